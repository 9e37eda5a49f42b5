/* open.c - opens and closes ftrace's binary captures, and defines ftrace_ops,
 * their row in the table of formats. */
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "formats/ftrace/ftrace.h"
#include "formats/ftrace/pack.h"
#include "formats/ftrace/page.h"
#include "formats/reader/nonce.h"
#include "formats/reader/reader.h"
#include "formats/tracepoint/fields.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/order/clocks.h"
#include "stitch/user_mask.h"

/* ---- reads a folder of raw pages: copies of per_cpu/cpuN/trace_pipe_raw, and
 * of the files of tracefs that describe them.
 *
 * Pages: per_cpu/cpuN/trace_pipe_raw, cpuN.raw, cpuN, or one of the last two
 * after a name and a hyphen or a dot. Formats: events/SYSTEM/NAME/format, or
 * [SYSTEM-]NAME.format. Next to them, with or without .txt: header_page,
 * trace_clock, saved_cmdlines, saved_tgids, osrelease, hostname and arch (of
 * /proc/sys/kernel), kallsyms, and stats next to the pages. Further folders
 * per_cpu belong to other instances, which have other rings and the same
 * events. Pages do not record their byte order: it is the one in which their
 * entries can be read. */

#define DEPTH_MAX 4
#define ENTRIES_MAX 200000
#define CPU_MAX 65536
#define FOLDERS_MAX 256u
#define TEXT_MAX ((uint64_t)256 << 20)
#define PATH_SIZE 4096
#define TRY_PAGES 64
/* ids of ftrace's own events are below this (__TRACE_LAST_TYPE) */
#define OWN_IDS 32

struct ft_dir_state {
	struct ft *ft;
	size_t entries;
	struct ft_raw *raw;
	size_t n, cap;
	char **folder; /* of instances: the path before "/per_cpu/" */
	size_t n_folder, cap_folder;
	bool no_pages; /* read only files that describe pages */
	struct err *err;
	bool failed; /* pages cannot be read; *err has the reason */
};

/* Returns N if s is "cpuN" followed by `end`, otherwise -1. */
static int32_t ft_dir_cpu(const char *s, const char *end)
{
	int32_t n = 0;

	if (strncmp(s, "cpu", 3) || !isdigit((unsigned char)s[3]))
		return -1;
	for (s += 3; isdigit((unsigned char)*s) && n < CPU_MAX; s++)
		n = n * 10 + (*s - '0');
	return n < CPU_MAX && !strcmp(s, end) ? n : -1;
}

/* Returns the CPU of "cpu3.raw" or "same-cpu3.raw", otherwise -1. */
static int32_t ft_dir_cpu_in_name(const char *name, const char *end)
{
	int32_t cpu = -1;

	for (const char *s = name; (s = strstr(s, "cpu")) && cpu < 0; s++)
		if (s == name || !isalnum((unsigned char)s[-1]))
			cpu = ft_dir_cpu(s, end);
	return cpu;
}

/* Returns the CPU in the name of a file of pages, or -1. trace-cmd leaves
 * trace.dat.cpu3 if it is stopped before it makes the trace.dat. */
static int32_t ft_dir_page_cpu(const char *name)
{
	int32_t cpu = ft_dir_cpu_in_name(name, ".raw");

	return cpu < 0 ? ft_dir_cpu_in_name(name, "") : cpu;
}

/* Opens a small file. Returns false if it is missing or not a regular file. */
static bool ft_dir_open_file(struct input *in, const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && st.st_size > 0 &&
	       (uint64_t)st.st_size <= TEXT_MAX &&
	       !input_open(in, path, NULL, NULL);
}

/* Like ft_dir_open_file(), and opens files of tracefs itself, which have size
 * 0. The rings in tracefs are not read. */
static bool ft_dir_open_small(struct input *in, const char *path)
{
	struct stat st;
	struct statfs fs;

	if (ft_dir_open_file(in, path))
		return true;
	if (stat(path, &st) || !S_ISREG(st.st_mode) || st.st_size ||
	    statfs(path, &fs) || fs.f_type != TRACEFS_MAGIC ||
	    input_open_adjacent(in, path, NULL))
		return false;
	if ((in->data || !input_spool(in, NULL, NULL)) && in->len &&
	    in->len <= TEXT_MAX)
		return true;
	input_close(in);
	return false;
}

static bool ft_dir_open_text(struct input *in, struct bytes *b, const char *dir,
			     const char *name)
{
	char path[PATH_SIZE];

	for (int txt = 0; txt < 2; txt++) {
		int n = snprintf(path, sizeof(path), "%s/%s%s", dir, name,
				 txt ? ".txt" : "");

		if (n > 0 && (size_t)n < sizeof(path) &&
		    ft_dir_open_small(in, path)) {
			bytes_init(b, in->data, in->len, in->path, 0, false);
			return true;
		}
	}
	return false;
}

/* Reads a file with the format of an event. */
static void ft_dir_take_format(struct ft_dir_state *w, const char *path,
			       const char *name)
{
	struct input in;
	struct bytes b;
	char system[64];

	if (!ft_dir_open_small(&in, path))
		return;
	bytes_init(&b, in.data, in.len, in.path, 0, false);
	if (!strcmp(name, "format")) {
		/* The path is ".../SYSTEM/NAME/format": take the system from
		 * it. */
		size_t size = sizeof(system);
		const char *end = path + strlen(path);

		for (int up = 0; up < 2; up++)
			while (end > path && *--end != '/')
				;
		const char *from = end;

		while (from > path && from[-1] != '/')
			from--;
		snprintf(system, size, "%.*s", (int)(end - from), from);
	} else {
		/* The format is not in such a folder: take the system from a
		 * name "SYSTEM-NAME.format", from the id, or from known names
		 * of kernel events. */
		size_t size = sizeof(system);
		const char *dash = strchr(name, '-');
		uint32_t id = OWN_IDS;

		tp_number_after((const char *)b.pos, (const char *)b.end, TP_ID,
				&id);
		if (dash)
			snprintf(system, size, "%.*s", (int)(dash - name),
				 name);
		else if (id < OWN_IDS)
			snprintf(system, size, "ftrace");
		else if (!strncmp(name, "sched_", 6))
			snprintf(system, size, "sched");
		else if (!strncmp(name, "task_", 5))
			snprintf(system, size, "task");
		else if (!strncmp(name, "sys_enter.", 10) ||
			 !strncmp(name, "sys_exit.", 9))
			snprintf(system, size, "raw_syscalls");
		else if (!strncmp(name, "sys_", 4))
			snprintf(system, size, "syscalls");
		else
			snprintf(system, size, "events");
	}
	ft_format_add(w->ft, system, &b);
	input_close(&in);
}

/* Returns the CPU of the folder "cpu3" that contains the file, otherwise -1. */
static int32_t ft_dir_cpu_of_folder(const char *path)
{
	const char *dir = strrchr(path, '/');
	char folder[64];

	while (dir && dir > path && dir[-1] != '/')
		dir--;
	snprintf(folder, sizeof(folder), "%.*s",
		 dir ? (int)strcspn(dir, "/") : 0, dir ? dir : "");
	return ft_dir_cpu(folder, "");
}

/* Returns the number of the instance that a file belongs to, which is added if
 * it is new; 0 is the top one, whose folder is the capture's. */
static uint32_t ft_dir_instance(struct ft_dir_state *w, const char *path)
{
	const char *end = strstr(path, "/per_cpu/");
	char *folder;
	size_t i = 0;

	for (const char *next; end && (next = strstr(end + 1, "/per_cpu/"));)
		end = next;
	if (!end)
		return 0;
	folder = mem_printf("%.*s", (int)(end - path), path);
	while (i < w->n_folder && strcmp(w->folder[i], folder) != 0)
		i++;
	if (i < w->n_folder || i == FOLDERS_MAX)
		free(folder);
	else
		*mem_add(w->folder, w->n_folder, w->cap_folder) = folder;
	return (uint32_t)(i < FOLDERS_MAX ? i : 0);
}

/* Returns true if the pages of the same CPU are next to this stats file. */
static bool ft_dir_has_pages(const char *path)
{
	char raw[PATH_SIZE];
	const char *end = strstr(strrchr(path, '/'), "stats");
	struct stat st;
	bool own = end[-1] == '/';

	snprintf(raw, sizeof(raw), "%.*s%s", (int)(end - path), path,
		 own ? "trace_pipe_raw" : "raw");
	bool there = !stat(raw, &st);

	if (own || there)
		return there;
	/* "cpu3" belongs to "cpu3.stats" */
	snprintf(raw, sizeof(raw), "%.*s", (int)(end - path - 1), path);
	return !stat(raw, &st);
}

static void ft_dir_take_file(struct ft_dir_state *w, const char *path,
			     const char *name)
{
	const char *end = strrchr(name, '.');

	if (!strcmp(end ? end + 1 : name, "format"))
		ft_dir_take_format(w, path, name);
	else if (!strncmp(name, "kallsyms", 8)) {
		struct input in;

		if (w->ft->kallsyms || !ft_dir_open_file(&in, path))
			return;
		w->ft->kallsyms_len = in.len;
		w->ft->kallsyms = mem_dup(in.data, in.len);
		input_close(&in);
	} else if (w->no_pages)
		return;
	else if (ft_dir_page_cpu(name) >= 0 ||
		 !strcmp(name, "trace_pipe_raw")) {
		/* files of pages may have any length */
		struct ft_raw raw = { .cpu = ft_dir_page_cpu(name) };
		struct stat st;

		if (raw.cpu < 0 && !strcmp(name, "trace_pipe_raw"))
			raw.cpu = ft_dir_cpu_of_folder(path);
		if (raw.cpu < 0 || stat(path, &st) || !st.st_size)
			return;
		raw.instance = ft_dir_instance(w, path);
		if (input_open(&raw.in, path, w->ft->opts.temp_dir, w->err))
			w->failed = true;
		else
			*mem_add(w->raw, w->n, w->cap) = raw;
	} else if (strstr(name, "stats")) {
		/* "stats" in a folder cpuN, or "cpuN.stats" */
		struct input in;
		int32_t cpu = ft_dir_cpu_in_name(name, ".stats");

		cpu = cpu < 0 ? ft_dir_cpu_in_name(name, ".stats.txt") : cpu;
		if (cpu < 0 && !strcmp(name, "stats"))
			cpu = ft_dir_cpu_of_folder(path);
		if (cpu < 0 || !ft_dir_has_pages(path) ||
		    !ft_dir_open_file(&in, path))
			return;
		char *text = mem_printf("CPU: %d\n%.*s", cpu, (int)in.len,
					(const char *)in.data);
		struct bytes b;

		bytes_init(&b, text, strlen(text), path, 0, false);
		size_t n = w->ft->n_stat;

		ft_option_read(w->ft, FT_CPUSTAT, &b, NULL);
		if (w->ft->n_stat > n)
			w->ft->stat[n].instance = ft_dir_instance(w, path);
		free(text);
		input_close(&in);
	}
}

/* Reads all files below a folder, to DEPTH_MAX. */
static void ft_dir_walk(struct ft_dir_state *w, const char *dir, int depth)
{
	DIR *d = opendir(dir);
	char path[PATH_SIZE];
	struct dirent *ent;
	struct stat st;

	while (d && !w->failed && (ent = readdir(d)) &&
	       ++w->entries < ENTRIES_MAX) {
		int n = snprintf(path, sizeof(path), "%s/%s", dir, ent->d_name);

		if (ent->d_name[0] == '.' || n < 0 ||
		    (size_t)n >= sizeof(path) || lstat(path, &st))
			continue;
		if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
			ft_dir_walk(w, path, depth + 1);
		else if (S_ISREG(st.st_mode))
			ft_dir_take_file(w, path, ent->d_name);
	}
	if (d)
		closedir(d);
}

COMPARE_FUNCTION(ft_dir_compare_cpus, struct ft_raw,
		 compare_numbers(x->cpu, y->cpu)
			 ?: compare_numbers(x->instance, y->instance)
			 ?: strcmp(x->in.path, y->in.path));

static void ft_dir_set_order(struct ft *ft, bool big)
{
	ft->big = big;
	ft->swap = bytes_must_swap(big);
	ft->tp.swap = ft->look.swap = ft->swap;
	ft->src.info.big_endian = big;
}

/* Returns the number of entries in those of the first pages that can be read to
 * their end in this byte order. */
static uint64_t ft_dir_count_entries(struct ft *ft, bool big)
{
	uint64_t good = 0;

	ft_dir_set_order(ft, big);
	for (size_t i = 0; i < ft->n_stream; i++) {
		struct ft_stream *s = &ft->stream[i];
		uint64_t pages = s->len / s->subbuf;

		for (uint64_t p = 0; p < pages && p < TRY_PAGES; p++) {
			struct ft_page pg;
			struct ft_entry e;
			uint64_t n = 0;
			int got;

			if (ft_page_open(ft, s, p * s->subbuf, &pg, NULL))
				continue;
			while ((got = ft_page_next(ft, &pg, &e, NULL)) > 0)
				n++;
			good += got == 0 ? n : 0;
		}
	}
	return good;
}

static void ft_dir_take_tgids(struct ft *ft, const struct bytes *b)
{
	struct scan s = scan_of(b->pos, bytes_left(b));

	while (s.n) {
		struct scan at = scan_line(&s);
		char line[64];
		int tid, tgid;

		snprintf(line, sizeof(line), "%.*s", (int)at.n, at.p);
		if (sscanf(line, "%d %d", &tid, &tgid) == 2)
			ft_tgid_add(ft, tid, tgid);
	}
}

static void ft_dir_take_clock(struct ft *ft, const struct bytes *b)
{
	struct bytes text = *b;

	ft_option_read(ft, FT_TRACECLOCK, &text, NULL);
}

static const char *ft_dir_first_line(struct ft *ft, const struct bytes *b)
{
	struct scan s = scan_of(b->pos, bytes_left(b));
	char line[65]; /* host names of Linux have up to 64 bytes */

	snprintf(line, sizeof(line), "%.*s", (int)scan_line(&s).n,
		 (const char *)b->pos);
	return arena_strdup(&ft->arena, line);
}

static void ft_dir_take_release(struct ft *ft, const struct bytes *b)
{
	ft->src.info.release = ft_dir_first_line(ft, b);
}

static void ft_dir_take_host(struct ft *ft, const struct bytes *b)
{
	ft->src.info.host = ft_dir_first_line(ft, b);
}

static void ft_dir_take_arch(struct ft *ft, const struct bytes *b)
{
	ft->src.info.arch = ft_dir_first_line(ft, b);
	ft->src.info.user_mask = user_mask_of(ft->src.info.arch);
}

static void ft_dir_take_softirqs(struct ft *ft, const struct bytes *b)
{
	ft->src.info.no_packets =
		!strcmp(ft_dir_first_line(ft, b), NO_PACKETS_FILTER);
}

/* Takes a list of CPUs such as "0-3,8", of /sys/devices/system/cpu/online. */
static void ft_dir_take_online(struct ft *ft, const struct bytes *b)
{
	struct scan s = scan_of(b->pos, bytes_left(b));
	uint64_t n = 0, from, to;

	do {
		if (!scan_u64(&s, &from))
			return;
		to = from;
		if ((scan_take(&s, "-") && !scan_u64(&s, &to)) || to < from ||
		    to >= CPUS_MAX || (n += to - from + 1) > CPUS_MAX)
			return;
	} while (scan_take(&s, ","));
	ft->n_online = (int32_t)n;
}

/* Reads a file that describes the machine or the pages, by its name. */
static void ft_dir_take_texts(struct ft *ft, const char *dir)
{
	static const struct {
		const char *name, *other;
		void (*take)(struct ft *ft, const struct bytes *b);
	} texts[] = {
		{ "header_page", "events/header_page", ft_header_page_read },
		{ "printk_formats", NULL, ft_print_read_formats },
		{ "trace_clock", NULL, ft_dir_take_clock },
		{ "saved_cmdlines", NULL, ft_names_read },
		{ "saved_tgids", NULL, ft_dir_take_tgids },
		{ "osrelease", NULL, ft_dir_take_release },
		{ "hostname", NULL, ft_dir_take_host },
		{ "arch", NULL, ft_dir_take_arch },
		{ "online", NULL, ft_dir_take_online },
		{ "events/irq/softirq_entry/filter", NULL,
		  ft_dir_take_softirqs },
	};
	struct input in;
	struct bytes b;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (ft_dir_open_text(&in, &b, dir, texts[i].name) ||
		    (texts[i].other &&
		     ft_dir_open_text(&in, &b, dir, texts[i].other))) {
			texts[i].take(ft, &b);
			input_close(&in);
		}
}

static int ft_dir_read(struct ft *ft, const char *path, struct err *err)
{
	struct ft_dir_state w = { .ft = ft, .err = err };

	ft->src.info.dir = true;
	ft->page_size = ft->subbuf = 4096;
	*mem_add(w.folder, w.n_folder, w.cap_folder) = mem_printf("%s", path);
	ft_dir_take_texts(ft, path);
	ft_dir_walk(&w, path, 0);
	if (ft->opts.formats) {
		w.no_pages = true;
		ft_dir_take_texts(ft, ft->opts.formats);
		ft_dir_walk(&w, ft->opts.formats, 0);
	}
	sort_items(w.raw, w.n, ft_dir_compare_cpus);
	ft->raw = w.raw;
	ft->n_raw = w.n;
	/* without names: the instance counts as if it had one ring */
	for (size_t i = 0; i < w.n_folder; i++) {
		ft_instance_add(ft, "", NULL, 0, ft->subbuf);
		free(w.folder[i]);
	}
	free(w.folder);
	if (w.failed)
		return -1;
	for (size_t i = 0; i < w.n; i++)
		ft_stream_file(ft, w.raw[i].instance, w.raw[i].cpu,
			       &w.raw[i].in);
	/* the kernel numbers CPUs from 0, and has a folder for each, though it
	 * may be off: -1 if pages of one are missing */
	int32_t n_cpus = 0;

	for (size_t i = 0; i < w.n && n_cpus >= 0; i++)
		n_cpus = w.raw[i].cpu > n_cpus ? -1 : w.raw[i].cpu + 1;
	ft->src.info.cpus_online = ft->n_online ? ft->n_online : n_cpus;
	if (!w.n)
		return err_set(err, ERR_FORMAT,
			       "%s: no pages in this folder, needs "
			       "per_cpu/cpuN/trace_pipe_raw, cpuN.raw or cpuN",
			       path);
	if (!ft->n_type)
		return err_set(err, ERR_FORMAT,
			       "%s: no formats of events in this folder, needs "
			       "copies of events/*/*/format from the same "
			       "boot, or --formats DIR with them; until the "
			       "next boot that may be /sys/kernel/tracing",
			       ft->opts.formats ? ft->opts.formats : path);
	uint64_t big = ft_dir_count_entries(ft, true);

	ft_dir_set_order(ft, big > ft_dir_count_entries(ft, false));
	return 0;
}

#define IDS 65536u

static int ft_probe(const char *path, const void *head, size_t n)
{
	if (n || !strcmp(path, "-"))
		return n >= FT_MAGIC_LEN &&
				       !memcmp(head, FT_MAGIC, FT_MAGIC_LEN)
			       ? 100
			       : 0;
	char sub[PATH_SIZE];
	struct dirent *ent;
	struct stat st;
	bool found = false;
	DIR *d;

	snprintf(sub, sizeof(sub), "%s/per_cpu", path);
	if (!stat(sub, &st) && S_ISDIR(st.st_mode))
		return 40;
	d = opendir(path);
	while (d && !found && (ent = readdir(d))) {
		const char *name = ent->d_name;

		if (ft_dir_page_cpu(name) < 0)
			continue;
		/* a file, or a folder cpuN with trace_pipe_raw in it */
		snprintf(sub, sizeof(sub), "%s/%s", path, name);
		found = !stat(sub, &st) && S_ISREG(st.st_mode);
		snprintf(sub, sizeof(sub), "%s/%s/trace_pipe_raw", path, name);
		found |= !stat(sub, &st) && S_ISREG(st.st_mode);
	}
	if (d)
		closedir(d);
	return found ? 40 : 0;
}

static void ft_close(struct source *src)
{
	struct ft *ft = ft_from_source(src);

	for (size_t i = 0; i < ft->n_type; i++)
		tp_format_release(&ft->type[i].fmt);
	ft_streams_release(ft);
	input_close(&ft->in);
	for (size_t i = 0; i < ft->n_raw; i++)
		input_close(&ft->raw[i].in);
	tp_release(&ft->tp);
	tp_release(&ft->look);
	arena_release(&ft->arena);
	arena_release(&ft->made);
	table_release(&ft->events);
	claims_release(&ft->claims);
	ft_sync_release(ft);
	known_tasks_release(&ft->known);
	user_stack_reader_release(&ft->stack);
	free_all(ft->raw, ft->tgid, ft->type, ft->by_id, ft->event_of,
		 ft->event, ft->inst, ft->stat, ft->text, ft->field, ft->boot,
		 ft->map, ft->maps, ft->kallsyms, ft->symbol, ft->cmd,
		 ft->synthetic, ft->heap, ft->due, ft->src.path, ft);
}

static int ft_open_capture(struct ft *ft, const char *path, struct err *err)
{
	struct stat st;

	if (strcmp(path, "-") && !stat(path, &st) && S_ISDIR(st.st_mode)) {
		if (ft_dir_read(ft, path, err))
			return -1;
		for (size_t i = 0; i < ft->n_raw; i++)
			ft->src.size += ft->raw[i].in.len;
		return 0;
	}
	if (input_open(&ft->in, path, ft->opts.temp_dir, err) ||
	    input_spool(&ft->in, ft->opts.temp_dir, err) ||
	    ft_file_read(ft, err))
		return -1;
	if (ft->in.cut)
		reader_damage_packed(&ft->src, path);
	ft->src.size = ft->in.len;
	return 0;
}

static struct source *ft_open(const char *path, const struct source_opts *o,
			      struct ledger *lg, struct err *err)
{
	struct ft *ft = mem_new(1, sizeof(*ft));
	struct source_info *info = &ft->src.info;

	reader_init(&ft->src, &ftrace_ops, path, o, lg, &ft->opts);
	ft->in.fd = -1;
	ft->nonce_format =
		o && o->nonce_format ? o->nonce_format : nonce_default;
	ft->by_id = mem_new(IDS, sizeof(*ft->by_id));
	ft->event_of = mem_new(IDS, sizeof(*ft->event_of));
	info->cookies = COOKIES_FTRACE;
	if (ft_open_capture(ft, path, err)) {
		ft_close(&ft->src);
		return NULL;
	}
	ft_print_names(ft);
	info->kallsyms = ft->kallsyms;
	info->kallsyms_len = ft->kallsyms_len;
	/* Note the buffers, for `backstitch info`. The capture's clock is that
	 * of the top buffer. */
	char detail[256];

	for (size_t i = 0; i < ft->n_inst; i++) {
		const struct ft_instance *in = &ft->inst[i];
		uint32_t rings = 0;

		if (in->clock && !info->clock)
			info->clock = in->clock;
		for (size_t j = 0; j < ft->n_stream; j++)
			rings += ft->stream[j].instance == i;
		if (!*in->name)
			continue;
		snprintf(detail, sizeof(detail),
			 "buffer '%s': clock %s, %" PRIu32 " CPUs with events",
			 in->name,
			 in->clock ? trace_clock_name(in->clock) : "not said",
			 rings);
		reader_note(&ft->src, "instance", detail);
	}
	if (info->clock)
		info->clock = trace_clock_name(info->clock);
	info->clock_id = clock_id_of(info->clock);
	if (info->clock_id == CLOCK_ID_TSC && ft->mult)
		info->tsc = (struct tsc_conv){ 0, ft->mult,
					       (uint16_t)ft->mult_shift };
	/* Counts and cycles are read as if they were nanoseconds, which keeps
	 * their order; a note warns readers of durations. */
	static const struct {
		const char *clock, *cure;
	} ticks[] = {
		{ "counter", "" },
		{ "uptime", "" },
		{ "x86-tsc",
		  ", unless perf's capture is read with it; trace-cmd record "
		  "--tsc2nsec makes them so" },
		{ "ppc-tb", "" },
		{ "s390-tod", "" },
	};
	const char *clock = info->clock;

	for (size_t i = 0; clock && !ft->mult && i < ARRAY_SIZE(ticks); i++) {
		if (strcmp(clock, ticks[i].clock) != 0)
			continue;
		snprintf(detail, sizeof(detail),
			 "times are those of the clock %s: they are no "
			 "nanoseconds%s",
			 clock, ticks[i].cure);
		reader_note(&ft->src, "clock", detail);
	}
	/* Times with an offset are on no clock of the kernel: DATE makes them
	 * wall-clock time, and OFFSET comes from the user. */
	if (ft->shift)
		info->clock_id = ft->moved ? CLOCK_ID_NONE : CLOCK_ID_REAL;
	if (ft->shift && !ft->moved)
		info->wall_ns = info->wall_clock_ns = (uint64_t)ft->shift;
	return &ft->src;
}

/* Returns the type of a payload by the id in it, as next() may be adding events
 * in another thread. */
static const struct ft_type *ft_type_of_payload(const struct ft *ft,
						const struct rec_sample *s)
{
	struct bytes b;
	uint16_t id;

	bytes_init(&b, s->raw, s->raw_len, "", 0, ft->swap);
	return s->raw && !bytes_peek_u16(&b, 0, &id) ? ft_type_of(ft, id)
						     : NULL;
}

/* Returns whether next() and decode() may run in another thread: not with
 * compressed rings, whose windows move. */
static bool ft_apart(const struct source *src)
{
	const struct ft *ft = (const struct ft *)src;

	return !any_where(ft->n_stream, i, ft->stream[i].n_chunk);
}

static int ft_fields(struct source *src, const struct rec_sample *s,
		     struct field *out, struct err *err)
{
	struct ft *ft = ft_from_source(src);
	const struct ft_type *t = ft_type_of_payload(ft, s);

	if (!t)
		return err_set(err, ERR_FORMAT, "%s: event has no field format",
			       src->path);
	tp_fields_take(&ft->tp, &t->fmt, s->raw, s->raw_len, out);
	if (t->printk && s->raw)
		ft_print_text(ft, &t->fmt, s->raw, s->raw_len, out);
	if (t->named)
		ft_symbols_take(ft, &t->fmt, out);
	return 0;
}

static int ft_print(struct source *src, const struct rec_sample *s, char *buf,
		    size_t size)
{
	struct ft *ft = ft_from_source(src);
	const struct ft_type *t = ft_type_of_payload(ft, s);

	if (!size)
		return -1;
	buf[0] = '\0';
	if (!t || !s->raw)
		return -1;
	mem_grow(ft->field, ft->cap_field, t->fmt.n);
	if (ft_fields(src, s, ft->field, NULL))
		return -1;
	tp_print_fields(&ft->tp, &t->fmt, ft->field, buf, size);
	return 0;
}

const struct source_ops ftrace_ops = {
	.name = "ftrace",
	.summary = "trace.dat of trace-cmd; folder with trace_pipe_raw pages",
	.probe = ft_probe,
	.open = ft_open,
	.scan = ft_scan,
	.next = ft_next,
	.decode = ft_decode,
	.apart = ft_apart,
	.fills_arena = true,
	.fields = ft_fields,
	.print = ft_print,
	.dump = ft_dump,
	.close = ft_close,
};
