import json, os
import caisson
def of(name, args):
    try:
        value = caisson.call("fixture", name, args)
        return json.loads(value) if isinstance(value, str) else value
    except Exception as e:
        return {"refused": str(e)}
p = of("pii", {})
print(json.dumps(p))
os.makedirs("/workspace/out", exist_ok=True)
open("/workspace/out/p.json", "w").write(json.dumps([p, of("echo", {"value": p})]))
print(json.dumps(of("echo", {"value": list(p.values())})))
print(json.dumps(of("fail", {"why": str(p.get("email"))})))
