#!/usr/bin/env bash
# Finds, downloads or builds countersign, and says where it is. A download counts only with its digest.
set -euo pipefail

if [[ -n ${PROGRAM:-} ]]; then
    program=$(command -v -- "${PROGRAM}") || {
        echo "::error title=countersign::the program of the input \`program\` is not there"
        exit 2
    }
elif [[ -n ${PROGRAM_URL:-} ]]; then
    if [[ ! ${PROGRAM_SHA256:-} =~ ^[0-9a-f]{64}$ ]]; then
        echo "::error title=countersign::program-url needs program-sha256: 64 hex digits"
        exit 2
    fi
    folder=$(mktemp -d "${RUNNER_TEMP:?}/countersign-program.XXXXXX")
    program=${folder}/countersign
    curl --fail --silent --show-error --location --proto '=https,file' --output "${program}" -- "${PROGRAM_URL}"
    echo "${PROGRAM_SHA256}  ${program}" | sha256sum --check --quiet || {
        echo "::error title=countersign::the program at program-url has another digest than program-sha256"
        exit 2
    }
    chmod 755 "${program}"
else
    source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
    folder=$(mktemp -d "${RUNNER_TEMP:?}/countersign-program.XXXXXX")
    # From the folder of the source, so that no settings of the judged work for cargo count.
    (cd "${source}" && cargo install --quiet --locked --path crates/countersign --root "${folder}" --target-dir "${folder}/target")
    rm -rf "${folder:?}/target"
    program=${folder}/bin/countersign
fi
echo "program=${program}" >>"${GITHUB_OUTPUT:?}"
