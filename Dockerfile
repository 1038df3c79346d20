# The command line in an image: docker build -t mobilevos . && docker run --rm -v "$PWD:/work" mobilevos demo -o demo
# Not built by our tests, which have no Docker.
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE LICENSE-WEIGHTS.md ./
COPY constraints constraints
COPY src src
RUN python -m venv /opt/mobilevos \
    && /opt/mobilevos/bin/pip install --no-cache-dir --constraint constraints/ci.txt ".[openvino]"

FROM python:3.12-slim
COPY --from=build /opt/mobilevos /opt/mobilevos
RUN useradd --create-home user
USER user
WORKDIR /work
ENTRYPOINT ["/opt/mobilevos/bin/mobilevos"]
CMD ["--help"]
