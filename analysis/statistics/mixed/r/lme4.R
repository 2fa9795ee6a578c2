# Functions that the engine pymer4 calls in R, apart from the fit itself.

# nloptr adds a relative tolerance of 1e-4 that lme4 does not set: it stops early, warns about convergence without a
# reason, and makes the fourth digit of the degrees of freedom uncertain. Dependent columns are dropped without a
# message, because the caller names them.
waver_control <- function() {
  lme4::lmerControl(
    check.rankX = "silent.drop.cols", optCtrl = list(xtol_rel = 0, xtol_abs = 1e-10, ftol_abs = 1e-10)
  )
}

waver_factor <- function(codes, levels) structure(codes, levels = levels, class = "factor")

waver_data_frame <- function(columns, names) {
  structure(columns, names = names, class = "data.frame", row.names = .set_row_names(length(columns[[1]])))
}

# Returns everything that the class Fit holds, in base types.
waver_extract <- function(fit) {
  x <- lme4::getME(fit, "X")
  p <- ncol(x)
  tests <- lmerTest::contest(fit, diag(p), joint = FALSE, ddf = "Satterthwaite")
  components <- lme4::VarCorr(fit)
  # variance of Z b averaged over rows; for an intercept this is its variance (Johnson 2014, eq. 10)
  averaged <- mapply(
    function(z, sigma) sum(crossprod(z) * sigma) / nrow(z),
    lme4::getME(fit, "mmList"), lapply(components, as.matrix)
  )
  sds <- subset(as.data.frame(components), is.na(var2) & grp != "Residual")
  effects <- as.data.frame(lme4::ranef(fit, condVar = TRUE))
  flist <- lme4::getME(fit, "flist")
  fixed <- as.vector(x %*% lme4::fixef(fit))
  list(
    terms = colnames(x), estimate = tests$Estimate, se = tests[["Std. Error"]], df = tests$df,
    sd = apply(x, 2, sd), triangle = qr.R(qr(x)),
    reml = lme4::REMLcrit(fit), sigma = sigma(fit),
    variance_group = sds$grp, variance_term = sds$var1, variance_sd = sds$sdcor,
    variance_fixed = var(fixed), variance_random = sum(averaged),
    singular = lme4::isSingular(fit),
    code = as.integer(c(fit@optinfo$conv$opt, fit@optinfo$conv$lme4$code, 0L)),
    message = as.character(unlist(fit@optinfo$conv$lme4$messages)),
    dropped = as.character(names(attr(x, "col.dropped"))),
    level_group = names(flist), level_count = sapply(flist, nlevels),
    y = as.vector(lme4::getME(fit, "y")), fitted = as.vector(fitted(fit)),
    effect_group = as.character(effects$grpvar), effect_term = as.character(effects$term),
    effect_level = as.character(effects$grp), effect_estimate = effects$condval, effect_se = effects$condsd
  )
}
