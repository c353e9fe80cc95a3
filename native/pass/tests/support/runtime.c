// The smallest runtime: it maps the page, gives modules their numbers, and writes what it is told to the file that UNITS
// names, one line for each unit. The tests of the pass link it in place of the real one.
//
// There is no baton: programs with several threads lose units, and are only run, not read.

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct registration {
  uint32_t version, sites;
  uint64_t id, global_count;
  const char *const *globals;
  uint64_t function_count;
  const char *const *functions;
};

struct page {
  char *cursor, *end, *limit;
  uint64_t site;
};

#define PAGE ((struct page *)0x7f000000)
#define UNITS (1 << 16)
#define SLACK (1 << 16)

static char buffer[UNITS * 16 + 2 * SLACK] __attribute__((aligned(16)));
static FILE *file;
static uint64_t next_site = 1;

static void empty(void) {
  uint64_t *unit = (uint64_t *)buffer;
  for (; (char *)unit < PAGE->cursor && file; unit += 2)
    fprintf(file, "u %lu %lu %lu\n", unit[0] & 0x3fffff, unit[0] >> 22, unit[1]);
  PAGE->cursor = buffer;
}

__attribute__((preserve_all)) void __tb_slow(void) { empty(); }

__attribute__((preserve_all)) void __tb_full(void) { empty(); }

__attribute__((preserve_most)) void __tb_bytes(uint64_t site, const unsigned char *address, uint64_t count) {
  empty();
  if (!file)
    return;
  fprintf(file, "b %lu %lu %lu ", site, (uint64_t)address & 0x3ffffffffff, count);
  for (uint64_t n = 0; n < count; n++)
    fprintf(file, "%02x", address[n]);
  fprintf(file, "\n");
}

// What functions of the C library read is not looked at here.
void __tb_touched(uint64_t site, uint64_t model, uint64_t a, uint64_t b, uint64_t c, uint64_t result) {}

static void finish(void) {
  empty();
  if (file)
    fclose(file);
  file = NULL;
}

uint64_t __tb_register(const struct registration *module) {
  if (next_site == 1) {
    mmap(PAGE, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    PAGE->cursor = buffer;
    PAGE->end = PAGE->limit = buffer + UNITS * 16;
    // A small buffer, so that it is emptied in all kinds of places.
    if (getenv("SMALL"))
      PAGE->end = PAGE->limit = buffer + 16 * atoi(getenv("SMALL"));
    const char *name = getenv("UNITS");
    file = name ? fopen(name, "w") : NULL;
    atexit(finish);
  }
  uint64_t first = next_site;
  next_site += module->sites;
  if (file) {
    fprintf(file, "m %u %lu %lu\n", module->version, module->id, first);
    for (uint64_t n = 0; n < module->global_count; n++)
      fprintf(file, "g %lu %lu\n", n, (uint64_t)module->globals[n]);
    for (uint64_t n = 0; n < module->function_count; n++)
      fprintf(file, "f %lu %lu\n", n, (uint64_t)module->functions[n]);
  }
  return first;
}
