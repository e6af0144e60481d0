# Bandwidths by the stats package of R, which tests compare with.
#
#     Rscript tests/references/bandwidths.R > tests/references/bandwidths.csv
#
# R shares values out to a grid of nb cells; so many make no difference.

set.seed(1)
sets <- list(
  faithful = faithful$eruptions,
  precip = as.numeric(precip),
  skewed = round(rexp(300), 6),
  two_humps = round(c(rnorm(150), rnorm(100, 5, 0.4)), 6),
  ties = round(rnorm(400), 1)
)
cat("# ", R.version.string, "\n", sep = "")
cat("set,nrd0,ucv,sj,values\n")
for (name in names(sets)) {
  x <- sets[[name]]
  wide <- diff(range(x))
  found <- c(
    bw.nrd0(x),
    bw.ucv(x, nb = 60000L, lower = 0.005 * wide, upper = 0.5 * wide, tol = 1e-7),
    bw.SJ(x, nb = 60000L, method = "ste", tol = 1e-7)
  )
  cat(name, ",", paste(sprintf("%.9g", found), collapse = ","), ",",
      paste(format(x, digits = 15, trim = TRUE), collapse = " "), "\n", sep = "")
}
