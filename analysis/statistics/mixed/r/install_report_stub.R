# Rscript install_report_stub.R: install an empty R package `report` if there is none, so that pymer4 can be imported.
if (!requireNamespace("report", quietly = TRUE)) {
  script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  library_path <- .libPaths()[1]
  if (file.access(library_path, mode = 2) != 0) {
    library_path <- path.expand(Sys.getenv("R_LIBS_USER"))
    dir.create(library_path, recursive = TRUE, showWarnings = FALSE)
  }
  install.packages(file.path(dirname(script), "report"), lib = library_path, repos = NULL, type = "source", quiet = TRUE)
  stopifnot(requireNamespace("report", lib.loc = library_path, quietly = TRUE))
}
