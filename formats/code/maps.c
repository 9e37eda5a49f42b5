/* maps.c - reads saved copies of /proc/PID/maps. */
#include "formats/code/maps.h"

#include <dirent.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "formats/input.h"
#include "formats/reader/scan.h"
#include "stitch/base/err.h"
#include "stitch/base/kallsyms_text.h"
#include "stitch/base/ledger.h"
#include "stitch/base/search.h"
#include "stitch/record.h"
#include "stitch/tasks/late_maps.h"

/* ---- finds the code of a kernel in a copy of its /proc/kallsyms */

#define PAGE 4096u
#define MODULES_MAX 20000u
#define KSYMBOLS_MAX 100000u
#define NAME_SIZE 64 /* the kernel allows module names of 56 bytes */
#define SYMBOL_SIZE 512
#define TYPE_BPF 1
#define TYPE_OOL 2

/* The state while lines are read. */
struct kernel_map_state {
	struct kernel_map *out;
	uint64_t low, high; /* first and last function of the kernel */
	uint64_t stext;
	const char *module; /* module of the last lines, in the text */
	size_t module_len;  /* 0: the kernel itself */
	bool is_bpf;
	bool is_pseudo; /* the module's symbols are separate code each */
	uint64_t mod_low, mod_high;
	size_t n_modules, n_ksymbols;
	size_t open; /* index + 1 of the item that ends at the next line; 0:
			none */
};

static struct kernel_code *kernel_map_add(struct kernel_map *km,
					  const char *name, size_t len)
{
	struct kernel_code *c = mem_add(km->at, km->n, km->cap);

	*c = (struct kernel_code){
		.name = arena_strndup(&km->names, name, len),
	};
	return c;
}

static void kernel_map_add_range(struct kernel_map *km, uint64_t start,
				 uint64_t end, uint64_t pgoff, const char *name)
{
	if (end <= start)
		return;
	struct kernel_code *c = kernel_map_add(km, name, strlen(name));

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

static void kernel_map_end_module(struct kernel_map_state *l)
{
	char name[NAME_SIZE + 2];

	if (l->module_len && !l->is_pseudo && l->mod_high &&
	    l->n_modules++ < MODULES_MAX) {
		snprintf(name, sizeof(name), "[%.*s]", (int)l->module_len,
			 l->module);
		kernel_map_add_range(l->out, kernel_map_page_start(l->mod_low),
				     kernel_map_page_end(l->mod_high), 0, name);
	}
	l->mod_low = UINT64_MAX;
	l->mod_high = 0;
}

static void kernel_map_take(struct kernel_map_state *l,
			    const struct kallsyms_line *line)
{
	if (line->module_len >= NAME_SIZE || line->name_len >= SYMBOL_SIZE)
		return;
	if (line->module_len != l->module_len ||
	    (l->module_len && memcmp(line->module, l->module, l->module_len))) {
		/* "[bpf]" and "[__builtin__ftrace]" are not modules: each of
		 * their symbols is separate code */
		static const char builtin[] = "__builtin__";
		const size_t n = sizeof(builtin) - 1;

		kernel_map_end_module(l);
		l->module = line->module;
		l->module_len = line->module_len;
		l->is_bpf = line->module_len == 3 &&
			    !memcmp(line->module, "bpf", 3);
		l->is_pseudo = l->is_bpf || (line->module_len >= n &&
					     !memcmp(line->module, builtin, n));
	}
	/* a symbol ends where the next one begins */
	struct kernel_code *last = l->open ? &l->out->at[l->open - 1] : NULL;

	if (last && line->addr > last->start &&
	    line->addr - last->start < last->len)
		last->len = line->addr - last->start;
	l->open = 0;
	if (!l->module_len) {
		if (kallsyms_line_is(line, "_text"))
			l->out->text = line->addr;
		else if (kallsyms_line_is(line, "_stext"))
			l->stext = line->addr;
		else if (kallsyms_line_is(line, "_etext"))
			l->out->etext = line->addr;
		lower_to(l->low, line->addr);
		raise_to(l->high, line->addr);
		return;
	}
	if (!l->is_pseudo) {
		lower_to(l->mod_low, line->addr);
		raise_to(l->mod_high, line->addr);
		return;
	}
	if (l->n_ksymbols++ >= KSYMBOLS_MAX)
		return;
	struct kernel_code *c =
		kernel_map_add(l->out, line->name, line->name_len);

	c->is_symbol = true;
	c->start = line->addr;
	c->len = PAGE;
	c->type = l->is_bpf ? TYPE_BPF : TYPE_OOL;
	l->open = l->out->n;
}

void kernel_map_read(struct kernel_map *out, const char *text, size_t len)
{
	struct kernel_map_state l = { out, UINT64_MAX, .mod_low = UINT64_MAX };
	struct kallsyms_text t = { .at = text, .left = len };
	struct kallsyms_line line;

	*out = (struct kernel_map){ .n = 0 };
	while (kallsyms_text_next(&t, &line))
		if (kallsyms_line_is_code(&line))
			kernel_map_take(&l, &line);
	kernel_map_end_module(&l);
	if (!l.high)
		return;
	/* A trimmed copy has no _text. Offsets then count from the page of its
	 * first function, as nothing better is known. */
	uint64_t start = out->text ? out->text : l.stext;
	uint64_t end = out->etext;

	start = start ? start : kernel_map_page_start(l.low);
	end = end > start ? end : kernel_map_page_end(l.high);
	kernel_map_add_range(out, start, end, start, "[kernel.kallsyms]_text");
}

void kernel_map_release(struct kernel_map *km)
{
	free(km->at);
	arena_release(&km->names);
	*km = (struct kernel_map){ .n = 0 };
}

#define PATH_SIZE 4096
#define LINE_SIZE 8192
#define MAPS_MAX 4000000u
#define FILES_MAX 1000000u
#define PID_MAX (1 << 22)
#define NS_DIGITS 9

/* The mappings of list[i] begin at map[first[i]]; map may be reallocated. */
struct maps {
	struct rec_map *map;
	size_t n_map, cap_map;
	struct snapshot *list;
	size_t *first;
	size_t n, cap, cap_first;
	struct arena arena;
};

struct maps *maps_new(void)
{
	return mem_new(1, sizeof(struct maps));
}

void maps_free(struct maps *m)
{
	if (!m)
		return;
	arena_release(&m->arena);
	free_all(m->map, m->list, m->first, m);
}

const struct snapshot *maps_list(struct maps *m, size_t *n)
{
	for (size_t i = 0; i < m->n; i++)
		m->list[i].map = m->map ? m->map + m->first[i] : NULL;
	*n = m->n;
	return m->list;
}

/* Takes the rights, such as "r-xp". Returns false if there are none. */
static bool maps_take_rights(struct scan *s, struct rec_map *m)
{
	static const struct {
		char c;
		uint32_t prot;
	} right[] = { { 'r', PROT_READ },
		      { 'w', PROT_WRITE },
		      { 'x', PROT_EXEC } };

	if (s->n < 4 || (s->p[3] != 'p' && s->p[3] != 's'))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(right); i++) {
		if (s->p[i] != right[i].c && s->p[i] != '-')
			return false;
		m->prot |= s->p[i] == '-' ? 0 : right[i].prot;
	}
	m->flags = s->p[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	scan_skip(s, 4);
	return true;
}

/* Takes "START-END RIGHTS OFFSET MAJ:MIN INODE   PATH". */
static bool maps_take_line(struct maps *m, const char *line,
			   struct rec_map *out)
{
	struct scan s = scan_of(line, strlen(line));
	uint64_t end, maj, min;
	char inode[64];

	*out = (struct rec_map){ 0 };
	if (!scan_hex(&s, &out->start) || !scan_take(&s, "-") ||
	    !scan_hex(&s, &end) || !scan_take(&s, " ") ||
	    !maps_take_rights(&s, out) || !scan_take(&s, " ") ||
	    !scan_hex(&s, &out->pgoff) || !scan_take(&s, " ") ||
	    !scan_hex(&s, &maj) || !scan_take(&s, ":") || !scan_hex(&s, &min) ||
	    !scan_take(&s, " ") || !scan_u64(&s, &out->ino) ||
	    (s.n && s.p[0] != ' ') || end <= out->start || line[1] == 'x')
		return false;
	out->len = end - out->start;
	out->maj = (uint32_t)maj;
	out->min = (uint32_t)min;
	/* A line without a path but with an inode is of that file. All
	 * anonymous memory gets perf's name for it. */
	const char *name = s.p;

	while (*name == ' ')
		name++;
	snprintf(inode, sizeof(inode), INODE_PATH, out->ino, out->maj,
		 out->min);
	if (!*name)
		name = out->ino ? inode : "//anon";
	/* the kernel writes a line feed in a path as "\012" */
	char *path = arena_strdup(&m->arena, name);

	for (char *at = path; (at = strstr(at, "\\012")); at++) {
		*at = '\n';
		memmove(at + 1, at + 4, strlen(at + 4) + 1);
	}
	out->path = path;
	return true;
}

COMPARE_BY(maps_compare, struct rec_map, start, len);

size_t maps_text(struct maps *m, const char *text, size_t len, const char *path,
		 int32_t pid, int64_t time, struct ledger *lg, uint16_t capture)
{
	char line[LINE_SIZE];
	size_t at = 0;

	mem_grow(m->list, m->cap, m->n + 1);
	mem_grow(m->first, m->cap_first, m->n + 1);
	struct snapshot *list = &m->list[m->n];
	size_t first = m->n_map;

	*list = (struct snapshot){ .pid = pid, .time = time };
	m->first[m->n++] = first;
	while (at < len) {
		const char *s = text + at;
		const char *nl = memchr(s, '\n', len - at);
		size_t n = nl ? (size_t)(nl - s) : len - at;
		struct rec_map r;
		struct err why;

		snprintf(line, sizeof(line), "%.*s",
			 (int)(n < sizeof(line) ? n : sizeof(line) - 1), s);
		if (m->n_map < MAPS_MAX && n < sizeof(line) &&
		    maps_take_line(m, line, &r)) {
			*mem_add(m->map, m->n_map, m->cap_map) = r;
			list->n++;
		} else if (*line && *line != '#') {
			err_at(&why, path, at,
			       "found '%.40s', needs a line of /proc/PID/maps",
			       line);
			ledger_damage(lg, capture, "maps", at, n, &why);
		}
		at += n + 1;
	}
	sort_items(m->map + first, list->n, maps_compare);
	return list->n;
}

/* Reads and closes an opened file. time: ns, or TIME_NONE if unknown. capture:
 * for the ledger entries. Returns 0, or -1 and *err if no line of the file has
 * the form. */
static int maps_take_file(struct maps *m, struct input *in, const char *path,
			  int32_t pid, int64_t time, struct ledger *lg,
			  uint16_t capture, struct err *err)
{
	size_t n =
		in->data ? maps_text(m, (const char *)in->data, (size_t)in->len,
				     path, pid, time, lg, capture)
			 : 0;
	input_close(in);
	if (n)
		return 0;
	return err_set(err, ERR_FORMAT, "%s: it has no line of /proc/PID/maps",
		       path);
}

/* Takes seconds such as "1548.143" as ns. */
static bool maps_take_seconds(struct scan *s, int64_t *ns)
{
	struct scan t = *s;
	uint64_t v;

	if (!scan_u64(&t, &v))
		return false;
	bool point = t.n > 1 && t.p[0] == '.' && scan_is_digit(t.p[1]);

	scan_skip(&t, point);
	for (int i = 0; i < NS_DIGITS; i++) {
		bool digit = point && t.n && scan_is_digit(t.p[0]);

		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(
			    v, digit ? (uint64_t)(t.p[0] - '0') : 0, &v))
			return false;
		scan_skip(&t, digit);
		point = digit;
	}
	if (v > INT64_MAX)
		return false;
	*ns = (int64_t)v;
	*s = t;
	return true;
}

static bool maps_take_pid(struct scan *s, int32_t *pid)
{
	return scan_i32(s, pid) && *pid <= PID_MAX;
}

/* Takes "1234.maps", "1234@15.5.maps" or "prog.1234.maps". */
static bool maps_take_name(const char *name, int32_t *pid, int64_t *time)
{
	const char *end = strrchr(name, '.');

	*time = TIME_NONE;
	if (!end || strcmp(end, ".maps") != 0)
		return false;
	for (const char *s = name; s < end; s++) {
		struct scan at = scan_of(s, (size_t)(end - s));

		if ((s > name && s[-1] != '.') || !maps_take_pid(&at, pid))
			continue;
		if (!at.n || (scan_take(&at, "@") &&
			      maps_take_seconds(&at, time) && !at.n))
			return true;
		/* an id must be followed by '@' or ".maps": 15.5 is a time */
		*time = TIME_NONE;
	}
	return false;
}

int maps_folder(struct maps *m, const char *path, struct ledger *lg,
		uint16_t capture, struct err *err)
{
	DIR *d = opendir(path);
	struct dirent *ent;
	size_t looked = 0;
	int n = 0;

	if (!d)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	while (n >= 0 && (ent = readdir(d)) && looked++ < FILES_MAX) {
		char file[PATH_SIZE];
		struct input in;
		int32_t pid;
		int64_t time;

		if (!maps_take_name(ent->d_name, &pid, &time) ||
		    (size_t)snprintf(file, sizeof(file), "%s/%s", path,
				     ent->d_name) >= sizeof(file))
			continue;
		n = input_open_named(&in, file, NULL, err) ||
				    maps_take_file(m, &in, file, pid, time, lg,
						   capture, err)
			    ? -1
			    : n + 1;
	}
	closedir(d);
	return n;
}

bool maps_in_folder(const char *path)
{
	DIR *d = opendir(path);
	const struct dirent *ent;
	bool found = false;
	size_t looked = 0;
	int32_t pid;
	int64_t time;

	while (d && !found && (ent = readdir(d)) && looked++ < FILES_MAX)
		found = maps_take_name(ent->d_name, &pid, &time);
	if (d)
		closedir(d);
	return found;
}

int maps_option(struct maps *m, const char *word, struct ledger *lg,
		uint16_t capture, struct err *err)
{
	char file[PATH_SIZE];
	struct scan s = scan_of(word, strlen(word));
	struct input in;
	struct stat st;
	int32_t pid;

	if (!stat(word, &st) && S_ISDIR(st.st_mode)) {
		int n = maps_folder(m, word, lg, capture, err);

		if (n)
			return n < 0 ? -1 : 0;
		return err_set(err, ERR_USAGE,
			       "--maps %s: no file in it is called PID.maps or "
			       "PID@SECONDS.maps",
			       word);
	}
	if (!maps_take_pid(&s, &pid) || !scan_take(&s, "=") || !s.n ||
	    s.n >= sizeof(file))
		return err_set(err, ERR_USAGE,
			       "--maps %s: needs PID=FILE, PID=FILE@SECONDS, "
			       "or a folder with PID.maps",
			       word);
	memcpy(file, s.p, s.n + 1);
	char *at = strrchr(file, '@');
	struct scan when = scan_of(at ? at + 1 : "", at ? strlen(at + 1) : 0);
	int64_t time = TIME_NONE;

	if (at && maps_take_seconds(&when, &time) && !when.n)
		*at = '\0';
	else
		time = TIME_NONE;

	return input_open(&in, file, NULL, err)
		       ? -1
		       : maps_take_file(m, &in, file, pid, time, lg, capture,
					err);
}
