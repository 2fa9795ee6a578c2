# Reference values for correlations, from R alone.
#
#   Rscript tests/reference/correlation.R tests/reference/correlation_data.csv tests/reference/correlation.csv
#
# Per data set: cor.test of x and y, Pearson (with its interval) and Spearman (exact where R is exact by default and
# there are no ties, else the t approximation), and partial correlations given z by residuals of lm (of ranks, for
# Spearman) with n - 3 degrees of freedom.

arguments <- commandArgs(trailingOnly = TRUE)
data <- read.csv(arguments[1])

partial <- function(x, y, z) {
  r <- cor(resid(lm(x ~ z)), resid(lm(y ~ z)))
  freedom <- length(x) - 3
  c(r, 2 * pt(-abs(r) * sqrt(freedom / (1 - r^2)), freedom))
}

row <- function(name, method, r, p, lower = NA, upper = NA) {
  data.frame(dataset = name, method = method, r = r, p = p, lower = lower, upper = upper)
}

answers <- function(name) {
  part <- data[data$dataset == name, ]
  x <- part$x; y <- part$y; z <- part$z
  ties <- anyDuplicated(x) || anyDuplicated(y)
  pearson <- cor.test(x, y)
  spearman <- suppressWarnings(cor.test(x, y, method = "spearman", exact = nrow(part) < 10 && !ties))
  plain <- partial(x, y, z)
  ranked <- partial(rank(x), rank(y), rank(z))
  rbind(
    row(name, "pearson", pearson$estimate, pearson$p.value, pearson$conf.int[1], pearson$conf.int[2]),
    row(name, "spearman", spearman$estimate, if (ties && nrow(part) < 10) NA else spearman$p.value),
    row(name, "pearson given z", plain[1], plain[2]),
    row(name, "spearman given z", ranked[1], ranked[2])
  )
}

found <- do.call(rbind, lapply(unique(data$dataset), answers))
number <- vapply(found, is.double, logical(1))
found[number] <- lapply(found[number], formatC, digits = 16, format = "g", width = 1)
write.csv(found, arguments[2], row.names = FALSE, quote = which(!number))
