"""Score the answers to two questions: one ranked already, one as scores."""

import rankmeter as rm

qrels = {
    "reset vpn": {"kb-vpn-reset": 3, "kb-vpn-install": 1, "kb-print-add": 0},
    "forgot password": {"kb-password-reset": 3, "kb-account-locked": 2},
}
run = {
    "reset vpn": ["kb-vpn-install", "kb-vpn-reset", "kb-wifi-office"],
    "forgot password": {"kb-mail-quota": 0.42, "kb-password-reset": 0.91},
}

ev = rm.evaluate(qrels, run, ["ndcg@10", "recall@5", "mrr"])
for metric, value in ev.mean.items():
    print(f"{metric:10} {value:.4f}")
