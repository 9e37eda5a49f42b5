/* kernel_map.c - derives where the code of a kernel is from a copy of its
 * /proc/kallsyms. */
#include "formats/code/kernel_map.h"

#include <stdlib.h>
#include <string.h>

#include "formats/reader/scan.h"
#include "stitch/base/mem.h"

#define PAGE 4096u
#define MODULES_MAX 20000u
#define KSYMBOLS_MAX 100000u
#define NAME_SIZE 64
#define TYPE_BPF 1
#define TYPE_OOL 2

/* State of reading the lines. */
struct kernel_map_state {
	struct kernel_map *out;
	uint64_t low, high; /* of the kernel's functions */
	uint64_t stext;
	char module[NAME_SIZE]; /* of the last lines; "": the kernel */
	uint64_t mod_low, mod_high;
	size_t n_modules, n_ksymbols;
	size_t open; /* item that ends at the next line, plus 1 */
};

static struct kernel_code *kernel_map_add(struct kernel_map *km,
					  const char *name)
{
	struct kernel_code *c = mem_add(km->at, km->n, km->cap);

	*c = (struct kernel_code){ .name = arena_strdup(&km->names, name) };
	return c;
}

static void kernel_map_add_range(struct kernel_map *km, uint64_t start,
				 uint64_t end, uint64_t pgoff, const char *name)
{
	if (end <= start)
		return;
	struct kernel_code *c = kernel_map_add(km, name);

	c->start = start;
	c->len = end - start;
	c->pgoff = pgoff;
}

static uint64_t kernel_map_page_start(uint64_t addr)
{
	return addr & ~(uint64_t)(PAGE - 1);
}

static uint64_t kernel_map_page_end(uint64_t addr)
{
	return kernel_map_page_start(addr) > UINT64_MAX - 2 * PAGE
		       ? UINT64_MAX
		       : kernel_map_page_start(addr) + PAGE;
}

/* "[bpf]" and "[__builtin__ftrace]" are not modules: each of their symbols is
 * separate code. */
static bool kernel_map_is_pseudo(const char *module)
{
	return !strcmp(module, "bpf") || !strncmp(module, "__builtin__", 11);
}

static void kernel_map_end_module(struct kernel_map_state *l)
{
	char name[NAME_SIZE + 2];

	if (l->module[0] && !kernel_map_is_pseudo(l->module) && l->mod_high &&
	    l->n_modules++ < MODULES_MAX) {
		name[0] = '[';
		memcpy(name + 1, l->module, strlen(l->module));
		memcpy(name + 1 + strlen(l->module), "]", 2);
		kernel_map_add_range(l->out, kernel_map_page_start(l->mod_low),
				     kernel_map_page_end(l->mod_high), 0, name);
	}
	l->mod_low = UINT64_MAX;
	l->mod_high = 0;
}

static void kernel_map_add_symbol(struct kernel_map_state *l, uint64_t addr,
				  const char *name)
{
	if (l->n_ksymbols++ >= KSYMBOLS_MAX)
		return;
	struct kernel_code *c = kernel_map_add(l->out, name);

	c->is_symbol = true;
	c->start = addr;
	c->len = PAGE;
	c->type = !strcmp(l->module, "bpf") ? TYPE_BPF : TYPE_OOL;
	l->open = l->out->n;
}

static void kernel_map_note_symbol(struct kernel_map_state *l, uint64_t addr,
				   const char *name)
{
	if (name[0] == '_' && !strcmp(name, "_text"))
		l->out->text = addr;
	else if (name[0] == '_' && !strcmp(name, "_stext"))
		l->stext = addr;
	else if (name[0] == '_' && !strcmp(name, "_etext"))
		l->out->etext = addr;
	if (addr < l->low)
		l->low = addr;
	if (addr > l->high)
		l->high = addr;
}

/* A symbol ends where the next one begins. */
static void kernel_map_end_symbol(struct kernel_map_state *l, uint64_t addr)
{
	struct kernel_code *c = l->open ? &l->out->at[l->open - 1] : NULL;

	if (c && addr > c->start && addr - c->start < c->len)
		c->len = addr - c->start;
	l->open = 0;
}

/* Takes "ADDRESS TYPE " of a function. The type comes first: it rules out every
 * second line. strtoull() took as long as all the rest. */
static bool kernel_map_take_address(struct scan *line, uint64_t *addr)
{
	size_t n = scan_find_char(*line, ' ');
	struct scan hex = scan_head(*line, n);
	struct scan rest = scan_tail(*line, n);

	if (rest.n < 3 || !memchr("tTwW", rest.p[1], 4) || rest.p[2] != ' ' ||
	    !scan_hex(&hex, addr) || hex.n || !*addr)
		return false;
	*line = scan_tail(rest, 3);
	return true;
}

/* Takes "NAME", optionally followed by "\t[MODULE]". */
static void kernel_map_take_name(struct kernel_map_state *l, uint64_t addr,
				 char *name)
{
	char *module = strchr(name, '\t');

	if (module)
		*module++ = '\0';
	if (module && *module == '[')
		module++;
	size_t n = module ? strcspn(module, "]") : 0;

	if (n >= NAME_SIZE)
		return;
	if (strlen(l->module) != n ||
	    memcmp(l->module, module ? module : "", n)) {
		kernel_map_end_module(l);
		memcpy(l->module, module ? module : "", n);
		l->module[n] = '\0';
	}
	kernel_map_end_symbol(l, addr);
	if (!n) {
		kernel_map_note_symbol(l, addr, name);
	} else if (kernel_map_is_pseudo(l->module)) {
		kernel_map_add_symbol(l, addr, name);
	} else {
		l->mod_low = addr < l->mod_low ? addr : l->mod_low;
		l->mod_high = addr > l->mod_high ? addr : l->mod_high;
	}
}

/* A trimmed copy has no _text. Offsets then count from the page of its first
 * function, since nothing better is known. */
static void kernel_map_end_kernel(struct kernel_map_state *l)
{
	struct kernel_map *km = l->out;
	uint64_t start = km->text ? km->text : l->stext;
	uint64_t end = km->etext;

	if (!l->high)
		return;
	start = start ? start : kernel_map_page_start(l->low);
	end = end > start ? end : kernel_map_page_end(l->high);
	kernel_map_add_range(km, start, end, start, "[kernel.kallsyms]_text");
}

void kernel_map_read(struct kernel_map *out, const char *text, size_t len)
{
	struct kernel_map_state l = { out, UINT64_MAX, .mod_low = UINT64_MAX };
	struct scan s = scan_of(text, len);
	char name[512];
	uint64_t addr;

	*out = (struct kernel_map){ .n = 0 };
	while (s.n) {
		struct scan line = scan_line(&s);

		if (kernel_map_take_address(&line, &addr) &&
		    line.n < sizeof(name)) {
			memcpy(name, line.p, line.n);
			name[line.n] = '\0';
			kernel_map_take_name(&l, addr, name);
		}
	}
	kernel_map_end_module(&l);
	kernel_map_end_kernel(&l);
}

void kernel_map_release(struct kernel_map *km)
{
	free(km->at);
	arena_release(&km->names);
	*km = (struct kernel_map){ .n = 0 };
}
