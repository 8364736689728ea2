from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from gcmem.precedents import LifecyclePolicy, PrecedentLedger


def _server_programs() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    if found:
        return found[-1].parent
    on_path = shutil.which("pg_ctl")
    return Path(on_path).parent if on_path else None


def _as_server_user(*command: str) -> None:
    """PostgreSQL refuses to run as root, so root runs it as the package's own user."""
    prefix = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    subprocess.run([*prefix, *command], check=True, capture_output=True, timeout=60)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    programs = _server_programs()
    if programs is None:
        pytest.skip("PostgreSQL's programs are not installed (apt-get install postgresql)")
    folder = Path(tempfile.mkdtemp(prefix="gcmem-pg-", dir="/tmp"))
    folder.chmod(0o777)
    data = str(folder / "data")
    _as_server_user(str(programs / "initdb"), "-D", data, "-U", "gcmem", "-A", "trust", "-N")
    options = f"-k {folder} -c listen_addresses='' -c fsync=off -c max_connections=200"
    log = str(folder / "log")
    _as_server_user(str(programs / "pg_ctl"), "-D", data, "-l", log, "-w", "-o", options, "start")
    try:
        yield f"postgresql+psycopg://gcmem@/postgres?host={folder}"
    finally:
        _as_server_user(str(programs / "pg_ctl"), "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """A schema of its own on the one server."""
    schema = f"s{uuid.uuid4().hex}"
    engine = create_engine(postgres_server)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
    engine.dispose()
    return f"{postgres_server}&options=-csearch_path%3D{schema}"


@pytest.fixture(params=["memory", "file", pytest.param("postgres", marks=pytest.mark.integration)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Every test that takes it runs on all three storages."""
    if request.param == "memory":
        return "sqlite://"
    if request.param == "file":
        return f"sqlite:///{tmp_path / 'memory.db'}"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def ledger(url: str) -> Iterator[PrecedentLedger]:
    with PrecedentLedger(url) as opened:
        yield opened


@pytest.fixture
def paper_ledger(url: str) -> Iterator[PrecedentLedger]:
    with PrecedentLedger(url, LifecyclePolicy.tepa_rev()) as opened:
        yield opened
