#!/usr/bin/env bash
# Names the files of this run, outside of the work: what countersign writes there is not judged.
set -euo pipefail

folder=$(mktemp -d "${RUNNER_TEMP:?}/countersign.XXXXXX")
{
    echo "sarif=${folder}/countersign.sarif"
    echo "comment=${folder}/comment.md"
} >>"${GITHUB_OUTPUT:?}"
