# Reference values for ordered logits, from R's package ordinal alone.
#
#   python tests/reference/ordered_data.py DATA
#   Rscript tests/reference/ordered.R DATA tests/reference/ordered.csv
#
# clmm: with a random intercept, 20 nodes of adaptive Gauss-Hermite quadrature; clm: without one.

suppressMessages(library(ordinal))
arguments <- commandArgs(trailingOnly = TRUE)

answers <- function(name) {
  data <- read.csv(file.path(arguments[1], sprintf("%s.csv", name)))
  data$rank <- factor(data$rank, ordered = TRUE)
  mixed <- clmm(rank ~ x1 + kind + (1 | item), data = data, weights = weight, nAGQ = 20)
  plain <- clm(rank ~ x1 + kind, data = data, weights = weight, control = clm.control(gradTol = 1e-10))
  rows <- function(model, fit, sd) {
    estimate <- coef(fit)
    data.frame(
      dataset = name, model = model, term = names(estimate), estimate = estimate,
      se = sqrt(diag(vcov(fit)))[names(estimate)], log_likelihood = as.numeric(logLik(fit)), sd_item = sd
    )
  }
  rbind(rows("clmm", mixed, attr(VarCorr(mixed)$item, "stddev")), rows("clm", plain, NA))
}

found <- do.call(rbind, lapply(c("five", "weighted", "two", "eleven", "alike"), answers))
number <- vapply(found, is.double, logical(1))
found[number] <- lapply(found[number], formatC, digits = 16, format = "g", width = 1)
write.csv(found, arguments[2], row.names = FALSE, quote = FALSE)
