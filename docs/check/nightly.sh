#!/bin/sh
# Ask a model behind a server in fresh wordings, and tell where its answers changed. From cron, whose mail is the alarm:
#   17 3 * * *  cd /srv/answers && sh nightly.sh >night.log 2>&1 || cat night.log
set -eu
night=nights/$(date -u +%Y%m%d)
waver run agreement --items statements.csv --wordings 10 --seed "$(date -u +%Y%m%d)" \
    --engine openai --base-url http://localhost:8000/v1 --model gpt-x --allow-failed 2% --out "$night"
waver check "$night" --rules drift.toml --against baselines/released
