import json,sys
d=json.load(sys.stdin)
L=d['ledger']
print(json.dumps(L)[:1500]); print('ctx',json.dumps(d['context_jobs'])[:800]); print('find', [ (f.get('rule'),f.get('message') or f.get('text')) if isinstance(f,dict) else f for f in d['findings']][:20])
