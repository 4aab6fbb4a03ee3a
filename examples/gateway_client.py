"""Ask a gateway as a provider does: the application runs in this process, without a socket."""

# %% A gateway with invented people, as `reticent serve --demo` has it
import asyncio
import tempfile
from pathlib import Path

import httpx

from reticent.console.app import make_app
from reticent.gateway import Gateway
from reticent.gateway.demo import seed

gateway = Gateway.open(Path(tempfile.mkdtemp()) / "demo.db")
keys = seed(gateway)
provider, token = next(iter(keys.tokens.items()))
app = make_app(gateway)


# %% One request: who it is about, and a key of our own making
async def ask(client, subject, key):
    """What the gateway answers, whatever the person allows."""
    return await client.post(
        "/v1/histogram", json={"subject": subject}, headers={"Idempotency-Key": key}
    )


async def main():
    """Ask about three people, one of them twice with one key."""
    client = httpx.AsyncClient(
        transport=httpx.ASGITransport(app=app),
        base_url="http://127.0.0.1",
        headers={"Authorization": f"Bearer {token}"},
    )
    async with client:
        for person in ("ann", "finn"):  # finn has nothing left, and that does not show
            answer = await ask(client, person, f"example-{person}")
            value = answer.json()["value"]
            shown = dict(list(value.items())[:3]) if isinstance(value, dict) else value
            print(answer.status_code, person, shown)
        again = await ask(client, "ann", "example-ann")
        first = await client.get("/v1/releases/example-ann")
        print("the same key, the same answer:", again.json()["value"] == first.json()["value"])
        stranger = await ask(client, "nobody", "example-nobody")
        print(stranger.status_code, stranger.json()["title"])


# %%
print("asking as", provider)
asyncio.run(main())
gateway.close()
