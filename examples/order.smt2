; Two reads and two writes of a lost update, as an order: each read before its write, both reads before both writes.
(set-logic ALL)
(declare-const r1 Int)
(declare-const w1 Int)
(declare-const r2 Int)
(declare-const w2 Int)
(assert (< r1 w1))
(assert (< r2 w2))
(assert (and (< r1 w2) (< r2 w1)))
(check-sat)
; If the second thread waits for the first, that cannot be.
(assert (< w1 r2))
(check-sat)
