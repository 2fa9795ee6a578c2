"""Write pages, reports, tables and figures as files: HTML, LaTeX, CSV, PDF and SVG."""
