// zstd with four workers: a text is packed in jobs, unpacked again and compared; the result does not depend on the schedule.
//
// prints: 2097152 bytes in 4 workers, and back
#include "../check.h"
#include <string.h>
#include <zstd.h>

enum { BYTES = 2 << 20, WORKERS = 4 };

int main(void) {
    char *text = malloc(BYTES), *back = malloc(BYTES);
    size_t room = ZSTD_compressBound(BYTES);
    char *packed = malloc(room);
    CHECK(text && back && packed);
    unsigned state = 1;
    for (int i = 0; i < BYTES; i++) {
        state = state * 1664525 + 1013904223;
        text[i] = i % 7 == 0 ? 'a' + (state >> 28) : ' ' + (i / 64 + i % 5) % 40;
    }
    ZSTD_CCtx *context = ZSTD_createCCtx();
    CHECK(!ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1)));
    CHECK(!ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_nbWorkers, WORKERS)));
    // Jobs of the smallest size that there is, so that all workers have some.
    CHECK(!ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_jobSize, 1)));
    size_t bytes = ZSTD_compress2(context, packed, room, text, BYTES);
    CHECK(!ZSTD_isError(bytes) && bytes < BYTES);
    CHECK(ZSTD_decompress(back, BYTES, packed, bytes) == BYTES && memcmp(text, back, BYTES) == 0);
    ZSTD_freeCCtx(context);
    printf("%d bytes in %d workers, and back\n", BYTES, WORKERS);
}
