# The objectives of glmnet and of margins with penalty factors, on two tables.
#
# Usage: Rscript benches/peers/penalty_factors.R DATA_DIR [MARGINS]
# with the folder of australian.csv.gz and heart_cleveland.csv.gz, and the command (default: margins).
# Needs the packages glmnet and jsonlite.
#
# glmnet minimises (1/n) sum log(1 + exp(-y f)) + (lambda_g/2) sum W'_j w_j^2 with alpha = 0, and
# W' = W p/sum(W): lambda here is lambda_g p / (2 sum(W)).

suppressMessages(library(glmnet))

arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
command <- if (length(arguments) > 1) arguments[2] else "margins"

compare <- function(name, factors) {
  table <- read.csv(gzfile(file.path(folder, paste0(name, ".csv.gz"))))
  positive <- table$label == max(table$label)
  x <- scale(as.matrix(table[, names(table) != "label"]))
  weights <- setNames(rep(1, ncol(x)), colnames(x))
  weights[names(factors)] <- factors
  file <- tempfile(fileext = ".csv")
  write.csv(format(data.frame(x, label = ifelse(positive, 1, -1)), digits = 17), file,
            row.names = FALSE, quote = FALSE)
  options <- paste0("--penalty-factor ", names(factors), "=", factors, collapse = " ")
  for (lambda in c(1, 1e-2, 1e-4)) {
    of_glmnet <- 2 * lambda * sum(weights) / ncol(x)
    fit <- glmnet(x, positive, family = "binomial", alpha = 0, standardize = FALSE,
                  penalty.factor = weights, lambda = of_glmnet * c(10, 3, 1),
                  thresh = 1e-16, maxit = 1e7)
    b <- coef(fit)[, 3]
    margins <- ifelse(positive, 1, -1) * (b[1] + x %*% b[-1])
    theirs <- mean(log1p(exp(-margins))) + lambda * sum(weights * b[-1]^2)
    json <- system(paste(command, "fit --data", file, "--label label --loss logistic --tol 1e-10",
                         "--lambda", lambda, options, "--format json"), intern = TRUE)
    ours <- jsonlite::fromJSON(paste(json, collapse = "\n"))$fits$objective[1]
    cat(sprintf("%-16s lambda %-6g glmnet %.15f  margins %.15f  relative difference %.1e\n",
                name, lambda, theirs, ours, abs(theirs - ours) / theirs))
  }
}

compare("australian", c(A8 = 0, A9 = 0, A3 = 5))
compare("heart_cleveland", c(age = 0, sex = 0, cp = 5))
