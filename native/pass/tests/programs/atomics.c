// C11 atomics: every operation, every order, pointers, booleans, structs that need a library call.
// link: -latomic
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
static atomic_int number; static atomic_long wide = 7; static atomic_uchar tiny; static _Atomic(int *) pointer; static atomic_bool flag; static atomic_flag bit = ATOMIC_FLAG_INIT;
struct big { long a, b, c; }; static _Atomic(struct big) big; static _Atomic double real;
int main(void) {
  int target = 3, expected = 1;
  atomic_store_explicit(&number, 1, memory_order_relaxed); atomic_store_explicit(&wide, 8, memory_order_release); atomic_store(&pointer, &target);
  bool a = atomic_compare_exchange_strong_explicit(&number, &expected, 5, memory_order_acq_rel, memory_order_acquire);
  expected = 4; bool b = atomic_compare_exchange_strong(&number, &expected, 6);
  do expected = atomic_load_explicit(&number, memory_order_acquire); while (!atomic_compare_exchange_weak_explicit(&number, &expected, expected + 1, memory_order_seq_cst, memory_order_relaxed));
  int *old = atomic_exchange_explicit(&pointer, (int *)0, memory_order_acq_rel);
  int s = atomic_fetch_add(&number, 3) + atomic_fetch_sub_explicit(&number, 1, memory_order_relaxed) + atomic_fetch_or_explicit(&number, 16, memory_order_acquire) + atomic_fetch_and_explicit(&number, 30, memory_order_release) + atomic_fetch_xor(&number, 9);
  s += __atomic_fetch_nand(&target, 2, __ATOMIC_SEQ_CST) + __atomic_fetch_max(&target, 40, __ATOMIC_RELAXED) + __atomic_fetch_min(&target, -2, __ATOMIC_RELAXED);
  atomic_thread_fence(memory_order_acquire); atomic_thread_fence(memory_order_release); atomic_thread_fence(memory_order_acq_rel); atomic_thread_fence(memory_order_seq_cst); atomic_signal_fence(memory_order_seq_cst);
  tiny--; flag = !flag; real += 1.5;
  bool was = atomic_flag_test_and_set(&bit); atomic_flag_clear_explicit(&bit, memory_order_release);
  big = (struct big){1, 2, 3}; struct big copy = big;
  printf("%d %d %d %d %d %ld %d %d %d %ld %.1f\n", a, b, *old, s, (int)number, (long)wide, (int)tiny, (int)flag, was, copy.c, (double)real);
}
