// Real compression: zstd's own source with four workers, on text that is made here; what comes out is unpacked and compared.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { BYTES = 20 << 20 };

static void fill(char *text) {
    static const char *const words[] = {"thread", "bare",  "lock",  "event", "trace", "schedule", "witness", "the", "of",
                                        "and",    "which", "other", "run",   "under", "a",        "order"};
    unsigned state = 1;
    for (size_t at = 0; at < BYTES;) {
        state = state * 1664525 + 1013904223;
        const char *word = words[state >> 28];
        size_t length = strlen(word);
        if (at + length + 1 > BYTES)
            length = BYTES - at - 1;
        memcpy(text + at, word, length);
        text[at + length] = (state >> 20 & 15) == 0 ? '\n' : ' ';
        at += length + 1;
    }
}

int main(void) {
    char *text = malloc(BYTES), *back = malloc(BYTES);
    size_t room = ZSTD_compressBound(BYTES);
    char *packed = malloc(room);
    fill(text);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 5);
    ZSTD_CCtx_setParameter(context, ZSTD_c_jobSize, 1 << 20);
    if (ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_nbWorkers, 4))) {
        fprintf(stderr, "zstd was built without threads\n");
        return 1;
    }
    size_t bytes = ZSTD_compress2(context, packed, room, text, BYTES);
    if (ZSTD_isError(bytes) || ZSTD_decompress(back, BYTES, packed, bytes) != BYTES || memcmp(text, back, BYTES) != 0) {
        fprintf(stderr, "what came back is not what went in\n");
        return 1;
    }
    ZSTD_freeCCtx(context);
    printf("%zu\n", bytes);
}
