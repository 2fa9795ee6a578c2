#!/usr/bin/env bash
# Slurm: a job array with one GPU per task. Task N asks the Nth of the run files plans/*.toml, such as one per model:
#
#     sbatch --array=0-2 one-gpu-per-task.sh plans
#
# A task that was stopped goes on where it was when it is sent again. Keys come from the environment of `sbatch`.
#SBATCH --job-name=waver
#SBATCH --gres=gpu:1
#SBATCH --cpus-per-task=8
#SBATCH --mem=64G
#SBATCH --time=08:00:00
#SBATCH --output=waver-%A-%a.log
#SBATCH --requeue
set -euo pipefail

folder=${1:?give the folder of the run files}
files=("$folder"/*.toml)
file=${files[${SLURM_ARRAY_TASK_ID:?send it with sbatch --array}]:?there are fewer run files than tasks}
echo "$(hostname): $file"
waver run "$file"
