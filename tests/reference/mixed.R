# Reference values for the mixed-model engines, from R alone.
#
#   python tests/reference/mixed_data.py DATA
#   Rscript tests/reference/mixed.R DATA tests/reference/mixed.csv
#
# Fits by lme4, tests by lmerTest (Satterthwaite), R2 by performance. lme4 is told to converge to 1e-10: with nloptr's
# relative tolerance of 1e-4 its answers would differ from the exact ones by more than the tolerances of the tests.

suppressMessages(library(lmerTest))
arguments <- commandArgs(trailingOnly = TRUE)
control <- lmerControl(optCtrl = list(xtol_rel = 0, xtol_abs = 1e-10, ftol_abs = 1e-10))

answers <- function(name, formula) {
  data <- read.csv(file.path(arguments[1], sprintf("%s.csv", if (name == "slopes") "crossed" else name)))
  fit <- lmer(as.formula(formula), data, control = control)
  table <- coef(summary(fit, ddf = "Satterthwaite"))
  interval <- contest(fit, diag(nrow(table)), joint = FALSE, confint = TRUE, level = 0.95)
  # for a singular fit `performance` gives none; the formula is Nakagawa & Schielzeth's all the same
  r2 <- if (isSingular(fit)) c(NA, NA) else unlist(performance::r2_nakagawa(fit))[2:1]
  components <- as.data.frame(VarCorr(fit))
  sd_of <- function(group, term) {
    found <- components$sdcor[components$grp == group & components$var1 %in% term & is.na(components$var2)]
    if (length(found)) found else NA
  }
  data.frame(
    dataset = name, formula = formula, term = rownames(table),
    estimate = table[, "Estimate"], se = table[, "Std. Error"], df = table[, "df"],
    statistic = table[, "t value"], p = table[, "Pr(>|t|)"], lower = interval$lower, upper = interval$upper,
    reml = REMLcrit(fit), sigma = sigma(fit), sd_item = sd_of("item", "(Intercept)"),
    sd_item_x1 = sd_of("item", "x1"), sd_reader = sd_of("reader", "(Intercept)"),
    r2_marginal = r2[1], r2_conditional = r2[2], singular = isSingular(fit),
    dropped = paste(names(attr(getME(fit, "X"), "col.dropped")), collapse = " "),
    n_rows = nobs(fit), n_items = nlevels(getME(fit, "flist")$item)
  )
}

asked <- read.csv(file.path(arguments[1], "formulas.csv"))
found <- do.call(rbind, Map(answers, asked$dataset, asked$formula))
number <- vapply(found, is.double, logical(1))
found[number] <- lapply(found[number], formatC, digits = 16, format = "g", width = 1)
write.csv(found, arguments[2], row.names = FALSE, quote = which(!number))
