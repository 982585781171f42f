# coterie as a service would run it: a slim base, a user without rights, a root that is read-only.
#
#   docker build -t coterie .
#   docker run --rm --read-only --tmpfs /tmp -v "$PWD:/data" coterie aggregate labels.csv --out out
#
# `.ci/container` follows these steps as far as it goes without an engine.
FROM python:3.12-slim

COPY . /src
RUN pip install --no-cache-dir "/src[parquet]" && rm -rf /src

# Compiled code is kept here: on a volume it is there for the next container, on a tmpfs for the
# next command. Without such a place everything works, and compiles every time.
ENV NUMBA_CACHE_DIR=/tmp/coterie

USER 65534:65534
WORKDIR /data
ENTRYPOINT ["coterie"]
CMD ["--help"]
