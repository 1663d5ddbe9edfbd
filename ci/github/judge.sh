#!/usr/bin/env bash
# Judges the event of this job. Annotations, summary and outputs are written by countersign itself.
set -euo pipefail

# Signatures of people for changed gate files come in refs of their own. Without them such a change waits.
git fetch --quiet --no-tags origin '+refs/countersign/decisions/*:refs/countersign/decisions/*' || true

arguments=(ci --format "sarif=${SARIF:?}" --comment "${COMMENT:?}")
if [[ -n ${REVIEWER:-} ]]; then
    arguments+=(--reviewer "${REVIEWER}")
fi
exec "${PROGRAM:?}" "${arguments[@]}"
