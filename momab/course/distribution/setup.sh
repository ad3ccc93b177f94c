#!/usr/bin/env bash
# Gradescope runs this once, as root, when the autograder is uploaded.
set -e
apt-get update
for version in 3.12 3.11 3.13; do
    apt-get install -y "python$version" "python$version-venv" && break
done
"python$version" -m venv /autograder/venv
/autograder/venv/bin/pip install --quiet -r /autograder/source/requirements.txt
