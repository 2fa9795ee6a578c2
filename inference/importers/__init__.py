"""Import other people's files: each importer turns them into a run folder like any other."""

KINDS = {
    "eee": "import records of Every Eval Ever that `waver export` wrote (JSON)",
    "haller": "import responses as Haller et al. (2024) published them (JSON)",
    "helm": "import runs of HELM: folders with scenario_state.json",
    "inspect": "import logs of Inspect (inspect_ai): .eval and .json files",
    "lm-eval": "import what lm-evaluation-harness logged with --log_samples (samples_*.jsonl and results_*.json)",
    "table": "import a long table with one row per response (CSV, JSON, YAML or Parquet)",
    "accuracies": "import a table of accuracies by model, task and template, without answers",
}
