/* What a program can tell Threadbare. Without Threadbare all of it compiles to nothing.
 *
 *     TB_ATOMIC_BEGIN;          what follows, up to the end, is meant to be atomic: a specification,
 *     balance += amount;        it excludes nobody
 *     TB_ATOMIC_END;
 *
 *     TB_ASSERT(balance >= 0);  must hold in every schedule; not evaluated without Threadbare
 *
 * Transactions may be nested, and belong to the thread that begins them. Each end must be reached: a `return` or `goto` in
 * between leaves the transaction open until the thread ends.
 */
#ifndef THREADBARE_H
#define THREADBARE_H

#ifdef __THREADBARE__

#ifdef __cplusplus
extern "C" {
#define TB_NOTHROW noexcept
#else
#define TB_NOTHROW
#endif

void __tb_transaction_begin(void) TB_NOTHROW;
void __tb_transaction_end(void) TB_NOTHROW;
void __tb_assert_failed(const char *text, const char *file, int line) TB_NOTHROW __attribute__((noreturn));

#ifdef __cplusplus
}
#endif
#undef TB_NOTHROW

#define TB_ATOMIC_BEGIN __tb_transaction_begin()
#define TB_ATOMIC_END __tb_transaction_end()
#define TB_ASSERT(condition) ((condition) ? (void)0 : __tb_assert_failed(#condition, __FILE__, __LINE__))

#else

#define TB_ATOMIC_BEGIN ((void)0)
#define TB_ATOMIC_END ((void)0)
/* `sizeof` keeps the condition's names used and checked, and evaluates nothing. */
#define TB_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))

#endif

#endif
