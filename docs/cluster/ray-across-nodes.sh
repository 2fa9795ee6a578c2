#!/usr/bin/env bash
# Slurm: one Ray cluster over all nodes of the job, and one run file whose prompts all their GPUs answer together:
#
#     sbatch --nodes=4 ray-across-nodes.sh plan.toml
#
# Models and the folder `out` must be where all nodes see them. A job that was stopped goes on when it is sent again.
#SBATCH --job-name=waver-ray
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=32
#SBATCH --mem=0
#SBATCH --time=08:00:00
#SBATCH --output=waver-ray-%j.log
set -euo pipefail

file=${1:?give a run file}
port=6379
head=$(scontrol show hostnames "${SLURM_JOB_NODELIST:?send it with sbatch}" | sed --quiet 1p)
# Not `--ip-address`, which on Debian and Ubuntu is that of the machine itself, such as 127.0.1.1.
address=$(srun --nodes=1 --ntasks=1 --nodelist="$head" hostname --all-ip-addresses | awk '{ print $1 }')

# Ray lets in only who has its token, which lies in the home folder that all nodes share; and it reports home unless told not to.
export RAY_AUTH_MODE=token RAY_USAGE_STATS_ENABLED=0
ray get-auth-token --generate >/dev/null

# Each stays in the foreground of its own step, and ends with the job.
srun --nodes=1 --ntasks=1 --nodelist="$head" \
    ray start --head --node-ip-address="$address" --port="$port" --include-dashboard=false --block &
timeout 300 bash -c "until ray status --address $address:$port >/dev/null 2>&1; do sleep 2; done"
others=$((SLURM_JOB_NUM_NODES - 1))
if ((others > 0)); then
    srun --nodes="$others" --ntasks="$others" --exclude="$head" ray start --address="$address:$port" --block &
    sleep 30 # those that are there by then get a share of the first model
fi
waver run "$file" --ray "$address:$port"
