# The workspace of the lab day: forecasts of tides in Python with notebooks and data, a service in Go, and infrastructure; some
# work that is not committed, commits that only one branch has, a stash, and secrets. Run in an empty folder.
set -e
export GIT_CONFIG_GLOBAL=/dev/null
git init -q -b main .
git config user.email a@b.example
git config user.name A
mkdir -p tides tests notebooks data/raw api infra/terraform infra/k8s infra/ansible/roles/gauge/tasks scripts docs .github/workflows
cat > .gitignore <<'I'
__pycache__/
*.pyc
build/
dist/
*.egg-info/
.venv/
.ipynb_checkpoints/
*.log
*.sqlite
*.tfstate
.env
vault_pass
I
cat > pyproject.toml <<'T'
[build-system]
requires = ["setuptools>=69"]
build-backend = "setuptools.build_meta"

[project]
name = "tides"
version = "0.3.0"
dependencies = ["numpy==2.1.0"]

[project.scripts]
tides = "tides.cli:main"
T
printf 'numpy==2.1.0\npandas==2.2.3\n' > requirements.txt
cat > Makefile <<'M'
.PHONY: test report clean deploy

test:
	python3 -m unittest -q

report:
	mkdir -p build && python3 -m tides.cli data/readings_2024.csv > build/report.txt

clean:
	rm -rf build dist *.egg-info

deploy:
	python3 infra/rollout.py production
M
printf '"""Forecasts of tides."""\n' > tides/__init__.py
cat > tides/load.py <<'P'
"""Reads the levels of a gauge."""

import csv


def read_levels(path):
    with open(path, newline="") as file:
        return [(row["station"], row["hour"], float(row["level"])) for row in csv.DictReader(file)]
P
cat > tides/model.py <<'P'
"""A forecast from the mean of the last hours."""

WINDOW = 3


def forecast(levels):
    last = levels[-WINDOW:]
    return sum(last) / len(last)
P
cat > tides/report.py <<'P'
"""The report of a day."""


def report(rows):
    lines = [f"{station} {hour}: {level:.2f}" for station, hour, level in rows]
    return "\n".join(lines)
P
cat > tides/cli.py <<'P'
"""The command line."""

import sys

from tides.load import read_levels
from tides.report import report


def main():
    print(report(read_levels(sys.argv[1])))


if __name__ == "__main__":
    main()
P
printf '"""What nobody calls any more."""\n\n\ndef smooth(levels):\n    return levels\n' > tides/legacy.py
touch tests/__init__.py
cat > tests/test_model.py <<'P'
import unittest

from tides.model import forecast


class ForecastTest(unittest.TestCase):
    def test_mean_of_the_last_hours(self):
        self.assertEqual(forecast([9.0, 1.0, 2.0, 3.0]), 2.0)


if __name__ == "__main__":
    unittest.main()
P
cat > tests/test_report.py <<'P'
import unittest

from tides.report import report


class ReportTest(unittest.TestCase):
    def test_one_line(self):
        self.assertEqual(report([("K1", "00", 1.5)]), "K1 00: 1.50")
P
for name in explore residuals; do
  printf '{\n "cells": [\n  {\n   "cell_type": "code",\n   "execution_count": 4,\n   "metadata": {},\n   "outputs": [{"name": "stdout", "output_type": "stream", "text": ["%s 1.52\\n"]}],\n   "source": ["print(\\"%s\\", 1.52)"]\n  }\n ],\n "metadata": {},\n "nbformat": 4,\n "nbformat_minor": 5\n}\n' $name $name > notebooks/$name.ipynb
done
printf 'id,name\nK1,Harbour\nK2,Lock\nK3,Bridge\n' > data/stations.csv
{ echo station,hour,level; for hour in 00 01 02 03 04 05; do for station in K1 K2 K3; do echo "$station,$hour,1.$hour"; done; done; } > data/readings_2024.csv
printf 'module tides.example/api\n\ngo 1.22\n' > api/go.mod
cat > api/main.go <<'G'
// Command api serves the forecasts.
package main

import (
	"log"
	"net/http"
)

func main() {
	http.HandleFunc("/forecast", forecast)
	log.Fatal(http.ListenAndServe(":8080", nil))
}
G
cat > api/handler.go <<'G'
package main

import (
	"fmt"
	"net/http"
)

func forecast(w http.ResponseWriter, r *http.Request) {
	station := r.URL.Query().Get("station")
	fmt.Fprintf(w, "{\"station\": %q, \"level\": 1.5}\n", station)
}
G
cat > infra/terraform/main.tf <<'H'
resource "google_storage_bucket" "readings" {
  name     = "tides-readings"
  location = "EU"

  lifecycle {
    prevent_destroy = true
  }
}
H
printf 'variable "region" {\n  default = "europe-west1"\n}\n' > infra/terraform/variables.tf
cat > infra/k8s/deployment.yaml <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata:
  name: api
spec:
  replicas: 2
  template:
    spec:
      containers:
        - name: api
          image: registry.example/tides-api:0.3.0
          resources:
            limits:
              memory: 128Mi
Y
printf 'apiVersion: v1\nkind: Service\nmetadata:\n  name: api\nspec:\n  ports:\n    - port: 80\n      targetPort: 8080\n' > infra/k8s/service.yaml
printf -- '- hosts: gauges\n  roles:\n    - gauge\n' > infra/ansible/site.yml
printf '[gauges]\nk1.gauges.example\nk2.gauges.example\n' > infra/ansible/inventory.ini
printf -- '- name: Copy the reader\n  ansible.builtin.copy:\n    src: reader.py\n    dest: /opt/reader.py\n' > infra/ansible/roles/gauge/tasks/main.yml
cat > infra/rollout.py <<'P'
"""Rolls the deployment out to a cluster."""

import pathlib
import sys
import urllib.request

body = pathlib.Path("infra/k8s/deployment.yaml").read_bytes()
address = f"https://{sys.argv[1]}.cluster.example/apis/apps/v1/deployments/api"
urllib.request.urlopen(urllib.request.Request(address, body, method="PUT"), timeout=2)
P
printf 'FROM python:3.12-slim\nCOPY . /app\nWORKDIR /app\nCMD ["python3", "-m", "tides.cli", "data/readings_2024.csv"]\n' > Dockerfile
printf '"""Writes the stations as JSON."""\n\nimport csv, json\n\nprint(json.dumps(list(csv.DictReader(open("data/stations.csv")))))\n' > scripts/export.py
printf '#!/bin/sh\n# Loads old readings again.\nset -e\nfor file in data/raw/*.csv; do echo "load $file"; done\n' > scripts/backfill.sh
printf 'repos:\n  - repo: local\n    hooks:\n      - id: test\n        name: test\n        entry: make test\n        language: system\n' > .pre-commit-config.yaml
printf 'on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - run: make test\n' > .github/workflows/test.yml
printf '# Tides\n\nForecasts for three gauges.\n' > README.md
printf '# Method\n\nThe mean of three hours.\n' > docs/method.md
printf '# Runbook\n\nThe password of the gauges is in the vault; never write a password or token here.\n\n    make deploy\n' > docs/runbook.md
printf 'TIDES_TOKEN=\n' > .env.example
git add .
git commit -qm 'Begin'
git tag -m 'The first release' v0.3.0
git switch -qc docs-fix
printf '\nRun `make report`.\n' >> README.md
git commit -qam 'Say how to make a report'
git switch -q main
git merge -q --no-edit docs-fix
git switch -qc spectral
printf '"""A forecast from two frequencies."""\n\n\ndef spectrum(levels):\n    return levels[:2]\n' > tides/spectral.py
git add .
git commit -qm 'Try two frequencies'
git switch -q main
git remote add origin https://git.example/tides.git
git update-ref refs/remotes/origin/main main
printf 'WINDOW = 6\n' >> tides/model.py
git stash push -q -m 'A longer window'
printf 'TIDES_TOKEN=vK8sN3xQ7mTz5LbW\nPGPASSWORD=rY4hJ9cD2fGp\n' > .env
printf 'mU6wE1aR8kXo\n' > infra/ansible/vault_pass
chmod 600 infra/ansible/vault_pass
printf '{"version": 4, "serial": 17, "resources": [{"type": "google_storage_bucket", "name": "readings"}]}\n' > infra/terraform/terraform.tfstate
{ echo hour,label; for hour in 00 01 02 03 04 05; do echo "$hour,storm"; done; } > data/labels.csv
printf 'station,hour,level\nK2,00,1.90\nK2,01,1.95\n' > data/raw/gauge_march.csv
printf '{"cells": [], "metadata": {"mine": "half a day of thinking"}, "nbformat": 4, "nbformat_minor": 5}\n' > notebooks/scratch.ipynb
printf '# Method\n\nThe mean of three hours, until the storm surge is modelled.\n' > docs/method.md
python3 - <<'P'
import sqlite3

database = sqlite3.connect("data/readings.sqlite")
database.execute("CREATE TABLE readings (station TEXT, hour TEXT, level REAL)")
rows = [(station, f"{hour:02}", 1 + hour / 10) for hour in range(24) for station in ("K1", "K2", "K3")]
database.executemany("INSERT INTO readings VALUES (?, ?, ?)", rows)
database.commit()
P
