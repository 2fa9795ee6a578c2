# Functions that the engine ordinal calls in R.

# Fits the columns y (factor of ranks), x0, x1 ... on an ordered logit with a random intercept of `group`, and returns
# what the class Fit holds, in base types.
waver_clmm <- function(rows, nodes) {
  rows$y <- factor(rows$y, ordered = TRUE)
  predictors <- grep("^x[0-9]+$", names(rows), value = TRUE)
  formula <- reformulate(c(predictors, "(1 | group)"), response = "y")
  fit <- ordinal::clmm(formula, data = rows, weights = rows$weight, link = "logit", nAGQ = nodes)
  errors <- sqrt(diag(as.matrix(vcov(fit))))[predictors]
  list(
    beta = as.numeric(fit$beta), se = as.numeric(errors), alpha = as.numeric(fit$alpha),
    log_likelihood = as.numeric(logLik(fit)), sd = as.numeric(attr(ordinal::VarCorr(fit)$group, "stddev")),
    modes = as.numeric(fit$ranef), mode_variances = as.numeric(fit$condVar), code = as.integer(fit$optRes$convergence)
  )
}
