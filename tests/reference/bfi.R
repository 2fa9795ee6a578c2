# Reference values for the consistency of scales: 2,800 people on 25 items (../shared/data/bfi), from R's psych and stats.
#
#   Rscript tests/reference/bfi.R ../shared/data/bfi tests/reference/bfi.csv
#
# alpha with Feldt's interval: psych::alpha, pairwise. omega: factanal (maximum likelihood) on the covariances of people
# who answered all items. omega_psych: omega.tot of psych::omega with one factor, fm = "ml", which standardises the items
# and divides by the observed variance of their sum.

suppressMessages(library(psych))
arguments <- commandArgs(trailingOnly = TRUE)
people <- read.csv(file.path(arguments[1], "responses.csv"))
items <- read.csv(file.path(arguments[1], "items.csv"))

answers <- function(scale) {
  of_scale <- items[items$scale == scale, ]
  x <- people[, of_scale$item]
  for (i in seq_len(nrow(of_scale))) if (of_scale$key[i] == -1) x[, i] <- 7 - x[, i]
  alpha <- psych::alpha(x, warnings = FALSE)
  whole <- na.omit(x)
  covariances <- cov(whole)
  fit <- factanal(covmat = covariances, factors = 1, n.obs = nrow(whole), control = list(opt = list(factr = 1e3)))
  loadings <- as.numeric(fit$loadings) * sqrt(diag(covariances))
  own <- fit$uniquenesses * diag(covariances)
  invisible(capture.output(total <- suppressWarnings(psych::omega(whole, nfactors = 1, fm = "ml", plot = FALSE,
                                                                 flip = FALSE))))
  data.frame(
    scale = scale, alpha = alpha$total$raw_alpha, lower = alpha$feldt$lower.ci[[1]], upper = alpha$feldt$upper.ci[[1]],
    n_whole = nrow(whole), omega = sum(loadings)^2 / (sum(loadings)^2 + sum(own)), omega_psych = total$omega.tot
  )
}

found <- do.call(rbind, lapply(unique(items$scale), answers))
number <- vapply(found, is.double, logical(1))
found[number] <- lapply(found[number], formatC, digits = 12, format = "g", width = 1)
write.csv(found, arguments[2], row.names = FALSE, quote = FALSE)
