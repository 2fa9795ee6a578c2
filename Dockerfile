# Waver with vLLM for one machine with GPUs. The wheel comes from `make release`, so the image says which commit it has.
#
#     make release && docker build --tag waver .
#     docker run --gpus all --ipc host --env HF_HOME=/models --volume "$PWD:/work" --volume "$HOME/.cache/huggingface:/models" \
#         waver run agreement --items statements.csv --model owner/name --engine vllm --out runs/first
#
# The user in it has the number 10001: the folder that is mounted on /work must be writable for it, or give
# `--user "$(id -u):$(id -g)"`. Keys come from `--env`, never from the image.
FROM nvidia/cuda:12.9.1-base-ubuntu24.04

# A compiler and Python's headers: Triton, which vLLM brings, builds its kernels when a model loads.
# hadolint ignore=DL3008
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
        gcc libc6-dev python3-dev python3-venv \
    && rm -rf /var/lib/apt/lists/*

COPY dist/*.whl /tmp/dist/
RUN python3 -m venv /opt/waver \
    && wheel="$(echo /tmp/dist/*.whl)" \
    && /opt/waver/bin/pip install --no-cache-dir "${wheel}[vllm,models,notebooks,excel,api]" \
    && rm -r /tmp/dist \
    && useradd --create-home --uid 10001 waver \
    && mkdir /work && chown waver /work

ENV PATH=/opt/waver/bin:$PATH
USER 10001
WORKDIR /work
# Is the install whole? A run is no service, so there is no port to ask.
HEALTHCHECK --interval=5m --timeout=30s CMD ["waver", "--version"]
ENTRYPOINT ["waver"]
CMD ["--help"]
