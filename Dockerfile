# An image that trains from a folder of yours, mounted at /data:
#
#   docker build -t spmcompat .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" spmcompat \
#       train --input=corpus.txt --model_prefix=m --vocab_size=8000
#
# The first stage has a compiler and builds a wheel; the image itself has neither.

ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN LDFLAGS=-Wl,-s pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:${PYTHON}-slim
LABEL org.opencontainers.image.title="spmcompat" \
      org.opencontainers.image.description="Trains SentencePiece models: the bytes of spm_train, in a fraction of the time and memory" \
      org.opencontainers.image.licenses="Apache-2.0"
# With pyarrow, for counts and Parquet files.
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --only-binary :all: "$(ls /wheels/spmcompat-*.whl)[counts]"
# Not root. With --user, as above, the files that are written belong to you.
RUN useradd --create-home --uid 1000 trainer
USER trainer
WORKDIR /data
ENTRYPOINT ["spmcompat"]
CMD ["--help"]
