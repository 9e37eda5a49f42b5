/* feature.c - reads facts about the machine and the events: the feature
 * sections after the records of a file, or the FEATURE records of a pipe. */
#include <inttypes.h>

#include "formats/perf/perf.h"
#include "formats/reader/reader.h"
#include "formats/reader/scan.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/tasks/jit.h"
#include "stitch/tasks/regs.h"
#include "stitch/user_mask.h"

/* ---- reads simpleperf's own records and feature sections, as comments in
 * simpleperf's source describe them */

#define TYPE_DEX 3

int perf_simpleperf_event_ids(struct perf *p, struct bytes *b, struct err *err)
{
	uint64_t n, attr, id;

	if (bytes_u64(b, &n, err))
		return -1;
	for (uint64_t i = 0; i < n; i++) {
		if (bytes_u64(b, &attr, err) || bytes_u64(b, &id, err))
			return -1;
		if (attr >= p->n_attr)
			return err_at(err, b->path, bytes_off(b) - 16,
				      "an id of event %" PRIu64
				      ", the file has %zu events",
				      attr, p->n_attr);
		perf_id_add(p, id, (uint32_t)attr);
	}
	return rest_end(b, err);
}

/* Names the events of a line "sched:sched_switch,2,91": name, type, config. */
static void perf_simpleperf_name(struct perf *p, char *line)
{
	char *config = strrchr(line, ',');

	if (!config)
		return;
	*config++ = '\0';
	char *type = strrchr(line, ',');

	if (!type)
		return;
	*type++ = '\0';
	for (uint32_t i = 0; i < p->n_attr; i++)
		if (p->attr[i].type == strtoul(type, NULL, 10) &&
		    p->attr[i].config == strtoull(config, NULL, 10))
			perf_attr_set_name(p, i, line);
}

/* Takes the version and the names of events of META_INFO. */
static int perf_simpleperf_meta(struct perf *p, struct bytes *b,
				struct err *err)
{
	const char *key, *value;

	while (bytes_left(b)) {
		if (bytes_str(b, &key, err) || bytes_str(b, &value, err))
			return -1;
		if (!strcmp(key, "simpleperf_version"))
			p->src.info.version = arena_strdup(&p->arena, value);
		if (strcmp(key, "event_type_info") != 0)
			continue;
		char *copy = mem_strdup(value);
		char *rest = copy;

		for (char *s = strsep(&rest, "\n"); s; s = strsep(&rest, "\n"))
			perf_simpleperf_name(p, s);
		free(copy);
	}
	return 0;
}

/* Checks the sizes in FILE, and skips the files and functions in it, which are
 * not used; their lengths must lead to the end. Later versions added a number
 * of 8 bytes to a file. */
static int perf_simpleperf_files(struct perf *p UNUSED, struct bytes *b,
				 struct err *err)
{
	uint32_t size, type, n, n_offset, len;
	const char *name;
	struct bytes file;

	while (bytes_left(b)) {
		if (bytes_u32(b, &size, err) ||
		    bytes_take(b, size, &file, err) ||
		    bytes_str(&file, &name, err) ||
		    bytes_u32(&file, &type, err) || bytes_skip(&file, 8, err) ||
		    bytes_u32(&file, &n, err))
			return -1;
		for (; n; n--)
			if (bytes_skip(&file, 8, err) ||
			    bytes_u32(&file, &len, err) ||
			    bytes_str(&file, &name, err))
				return -1;
		if (type == TYPE_DEX &&
		    (bytes_u32(&file, &n_offset, err) ||
		     bytes_skip(&file, 8 * (uint64_t)n_offset, err)))
			return -1;
		if (bytes_left(&file) != 8 && rest_end(&file, err))
			return -1;
	}
	return 0;
}

enum feature {
	FEAT_TRACING_DATA = 1,
	FEAT_BUILD_ID,
	FEAT_HOSTNAME,
	FEAT_OSRELEASE,
	FEAT_VERSION,
	FEAT_ARCH,
	FEAT_NRCPUS,
	FEAT_CPUDESC,
	FEAT_CMDLINE = 11,
	FEAT_EVENT_DESC = 12,
	FEAT_BPF_PROG_INFO = 25,
	FEAT_CLOCK_DATA = 29,
	FEAT_CPU_PMU_CAPS = 28,
	FEAT_PMU_CAPS = 31,
	FEAT_CPU_DOMAIN_INFO = 32,
	FEAT_E_MACHINE = 33,
	FEAT_CLN_SIZE = 34,
	FEAT_SIMPLEPERF = 128, /* ids from here on are simpleperf's own */
	FEAT_FILE = FEAT_SIMPLEPERF,
	FEAT_META_INFO,
};

#define CMDLINE_MAX 65536
#define NOTE_SIZE 512
/* Domains have names from this version of /proc/schedstat on. */
#define DOMAINS_NAMED 17

/* Takes a u32 length and as many bytes, which contain a string and its NUL.
 * *out is borrowed from the file. */
static int perf_feature_take_string(struct bytes *b, const char **out,
				    struct err *err)
{
	struct bytes s;
	uint32_t n;

	if (bytes_u32(b, &n, err) || bytes_take(b, n, &s, err))
		return -1;
	return bytes_str(&s, out, err);
}

static int perf_feature_copy_string(struct perf *p, struct bytes *b,
				    const char **out, struct err *err)
{
	const char *s;

	if (perf_feature_take_string(b, &s, err))
		return -1;
	*out = arena_strdup(&p->arena, s);
	return 0;
}

static int perf_feature_arch(struct perf *p, struct bytes *b, struct err *err)
{
	struct source_info *info = &p->src.info;

	if (perf_feature_copy_string(p, b, &info->arch, err))
		return -1;
	info->user_mask = user_mask_of(info->arch);
	p->halves = halves_of(info->arch);
	return 0;
}

static int perf_feature_cpus(struct perf *p, struct bytes *b, struct err *err)
{
	return bytes_i32(b, &p->src.info.cpus_avail, err)
		       ?: bytes_i32(b, &p->src.info.cpus_online, err);
}

/* Returns whether the next word may belong to this one. Of long options it is
 * not known; -f is of simpleperf, and old versions of perf have '-g dwarf'. */
static bool perf_feature_takes_word(const char *s, const char *next)
{
	size_t n = strlen(s);

	if (s[0] != '-' || n < 2)
		return false;
	if (s[1] == '-')
		return !strchr(s, '=');
	return strchr("eptrCcoFfDmuGjk", s[n - 1]) ||
	       (s[n - 1] == 'g' &&
		(!strcmp(next, "fp") || !strncmp(next, "dwarf", 5)));
}

/* Takes the command line. Its second word is "inject", or a path since 7.2, if
 * perf inject wrote the file. */
static int perf_feature_cmdline(struct perf *p, struct bytes *b,
				struct err *err)
{
	char *line OWNED = mem_new(CMDLINE_MAX, 1);
	const char *before = "";
	size_t len = 0;
	bool records = false;
	uint32_t n;
	int rc = bytes_u32(b, &n, err);

	p->n_options = SIZE_MAX;

	for (uint32_t i = 0; !rc && i < n; i++) {
		const char *s = "";

		rc = perf_feature_take_string(b, &s, err);
		size_t more = strlen(s);

		if (rc || len + more + 2 > CMDLINE_MAX)
			continue;
		if (i == 1)
			p->src.info.injected =
				!strcmp(s, "inject") || strchr(s, '/');
		if (strstr(s, "call-graph=dwarf") ||
		    (!strcmp(before, "--call-graph") &&
		     !strncmp(s, "dwarf", 5)))
			p->converted = p->src.info.injected;
		/* the program that is recorded, whose options are its own */
		if (records && p->n_options == SIZE_MAX && s[0] != '-' &&
		    !perf_feature_takes_word(before, s))
			p->n_options = len;
		records |= !strcmp(s, "record");
		before = s;
		if (i)
			line[len++] = ' ';
		memcpy(line + len, s, more);
		len += more;
	}
	p->src.info.cmdline = arena_strdup(&p->arena, line);
	return rc;
}

/* Sets the name of each event, which is found by its ids, or by its position if
 * it has none. */
static int perf_feature_event_desc(struct perf *p, struct bytes *b,
				   struct err *err)
{
	uint32_t n, attr_size, n_ids;
	const char *name;
	uint64_t id;

	if (bytes_u32(b, &n, err) || bytes_u32(b, &attr_size, err))
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t attr = i;

		if (bytes_skip(b, attr_size, err) ||
		    bytes_u32(b, &n_ids, err) ||
		    perf_feature_take_string(b, &name, err))
			return -1;
		for (; n_ids; n_ids--) {
			if (bytes_u64(b, &id, err))
				return -1;
			const struct perf_id *known = perf_id_find(p, id);

			/* perf 4.14 and 4.16 write this record of a pipe before
			 * those with the ids */
			if (!known && p->src.info.pipe)
				continue;
			if (!known)
				return err_at(err, b->path, bytes_off(b) - 8,
					      "an id of event '%s' is not "
					      "among the ids of the header",
					      name);
			attr = known->attr;
		}
		perf_attr_set_name(p, attr, name);
	}
	return 0;
}

static int perf_feature_clock_data(struct perf *p, struct bytes *b,
				   struct err *err)
{
	return bytes_skip(b, 8, err)
		       ?: bytes_u64(b, &p->src.info.wall_ns, err)
		       ?: bytes_u64(b, &p->src.info.wall_clock_ns, err);
}

static int perf_feature_e_machine(struct perf *p, struct bytes *b,
				  struct err *err)
{
	uint32_t machine;

	if (bytes_u32(b, &machine, err) || bytes_skip(b, 4, err))
		return -1;
	if (!p->src.info.arch && machine == MACHINE_AARCH64)
		p->src.info.user_mask = user_mask_of("aarch64");
	return 0;
}

/* Adds a build-id. The name is padded to 64 bytes: by 63 at most, or by 64
 * until perf 4.x, which counted its NUL twice (write_buildid() of
 * tools/perf/util). */
int perf_feature_add_build_id(struct perf *p, struct bytes *b, uint16_t misc,
			      struct err *err)
{
	struct build_id_def d = { .id_len = 20 };
	const char *path;
	uint8_t size = 0;
	struct bytes id;

	if (bytes_i32(b, &d.pid, err) || bytes_take(b, 20, &id, err) ||
	    bytes_u8(b, &size, err) || bytes_skip(b, 3, err) ||
	    bytes_str(b, &path, err) || rest_padding(b, 64, err))
		return -1;
	if (misc & PM_BIT15)
		d.id_len = size;
	if (perf_check_build_id(&id, d.id_len, err))
		return -1;
	memcpy(d.id, id.pos, d.id_len);
	d.kernel = (misc & PM_CPUMODE) == PM_KERNEL;
	d.path = arena_strdup(&p->arena, path);
	*mem_add(p->build_id, p->n_build_id, p->cap_build_id) = d;
	p->src.build_ids = p->build_id;
	p->src.n_build_ids = (uint32_t)p->n_build_id;
	if (d.kernel && !p->src.info.kernel_id_len && d.id_len &&
	    !strncmp(path, "[kernel.kallsyms]", 17)) {
		memcpy(p->kernel_id, d.id, d.id_len);
		p->src.info.kernel_id = p->kernel_id;
		p->src.info.kernel_id_len = d.id_len;
	}
	return 0;
}

/* Reads a sequence of records: type (0 in old files), misc, size, body. */
static int perf_feature_build_ids(struct perf *p, struct bytes *b,
				  struct err *err)
{
	uint16_t misc, size;
	struct bytes body;

	while (bytes_left(b)) {
		if (bytes_skip(b, 4, err) || bytes_u16(b, &misc, err) ||
		    bytes_u16(b, &size, err))
			return -1;
		if (size < 8)
			return err_at(err, b->path, bytes_off(b) - 8,
				      "build-id entry is %u bytes, needs 8",
				      size);
		if (bytes_take(b, size - 8u, &body, err) ||
		    perf_feature_add_build_id(p, &body, misc, err))
			return -1;
	}
	return 0;
}

/* ---- BPF programs: struct perf_bpil has offsets in its arrays in place of the
 * addresses of struct bpf_prog_info */

/* Bits of perf_bpil.arrays, and fields of struct bpf_prog_info. */
#define BPF_CODE (1u << 0 | 1u << 3 | 1u << 4)
#define BPF_HAS_TAGS (1u << 8)
#define BPF_TAG_LEN 8
enum bpf_field {
	BPF_TAG = 8,
	BPF_JITED_LEN = 16,
	BPF_JITED_INSNS = 24,
	BPF_N_KSYMS = 104,
	BPF_N_FUNC_LENS = 108,
	BPF_KSYMS = 112,
	BPF_FUNC_LENS = 120,
	BPF_N_TAGS = 180,
	BPF_TAGS = 184,
};

static bool bpf_same(const void *owner, uint32_t id, const void *key)
{
	const struct jit_code *had = ((const struct perf *)owner)->bpf[id];
	const struct jit_code *c = key;

	return had->start == c->start && had->len == c->len &&
	       had->number == c->number;
}

static uint64_t bpf_hash(const struct jit_code *c)
{
	return hash_pair(c->start, c->number ^ c->len);
}

/* Adds the code of function i of a program, and removes it from *code. The
 * kernel names functions after their tags; the tag of the first one is the
 * program's. */
static int bpf_add_function(struct perf *p, const struct bytes *info,
			    const struct bytes *data, uint32_t i,
			    struct bytes *code, struct err *err)
{
	uint64_t ksyms = 0, lens = 0, tags = 0;
	uint32_t n_tags = 0, len;
	unsigned char tag[BPF_TAG_LEN] = { 0 };
	struct jit_code c = { .swapped = data->swap };
	struct bytes own;

	bytes_peek_u64(info, BPF_KSYMS, &ksyms);
	bytes_peek_u64(info, BPF_FUNC_LENS, &lens);
	bytes_peek_u32(info, BPF_N_TAGS, &n_tags);
	bytes_peek_u64(info, BPF_TAGS, &tags);
	bytes_peek(info, BPF_TAG, tag, sizeof(tag));
	if (bytes_peek_u64(data, saturating_add(ksyms, i * 8ull), &c.start) ||
	    bytes_peek_u32(data, saturating_add(lens, i * 4ull), &len))
		return err_at(err, data->path, bytes_off(data),
			      "function %" PRIu32 " of a BPF program is not in "
			      "its data",
			      i);
	if (bytes_take(code, len, &own, err))
		return -1;
	if (i && i < n_tags)
		bytes_peek(data, saturating_add(tags, i * 8ull), tag,
			   sizeof(tag));
	for (size_t k = 0; k < sizeof(tag); k++)
		c.number = c.number << 8 | tag[k];
	c.len = c.n_bytes = len;
	if (!c.start || !len ||
	    table_find(&p->by_bpf, bpf_hash(&c), bpf_same, p, &c) != TABLE_NONE)
		return 0;
	c.bytes = memcpy(arena_take(&p->arena, len), own.pos, len);
	c.machine = regs_machine(NULL, p->src.info.arch);
	table_add(&p->by_bpf, bpf_hash(&c), (uint32_t)p->n_bpf);
	/* allocated separately: records have pointers to it, even those before
	 * a later section */
	*mem_add(p->bpf, p->n_bpf, p->cap_bpf) =
		memcpy(arena_take(&p->arena, sizeof(c)), &c, sizeof(c));
	return 0;
}

static int perf_feature_bpf(struct perf *p, struct bytes *b, struct err *err)
{
	uint32_t n, info_len, data_len;
	uint64_t arrays;

	if (bytes_u32(b, &n, err))
		return -1;
	for (; n; n--) {
		struct bytes info, data, all, code;
		uint32_t n_ksyms = 0, n_lens = 0, len = 0;
		uint64_t insns = 0;

		if (bytes_u32(b, &info_len, err) ||
		    bytes_u32(b, &data_len, err) ||
		    bytes_u64(b, &arrays, err) ||
		    bytes_take(b, info_len, &info, err) ||
		    bytes_take(b, data_len, &data, err))
			return -1;
		bytes_peek_u32(&info, BPF_JITED_LEN, &len);
		bytes_peek_u64(&info, BPF_JITED_INSNS, &insns);
		bytes_peek_u32(&info, BPF_N_KSYMS, &n_ksyms);
		bytes_peek_u32(&info, BPF_N_FUNC_LENS, &n_lens);
		if ((arrays & BPF_CODE) != BPF_CODE || !len)
			continue;
		all = data;
		if (bytes_skip(&all, insns, err) ||
		    bytes_take(&all, len, &code, err))
			return -1;
		for (uint32_t i = 0; i < n_ksyms && i < n_lens; i++)
			if (bpf_add_function(p, &info, &data, i, &code, err))
				return -1;
	}
	return 0;
}

const struct jit_code *perf_bpf_find(const struct perf *p,
				     const struct rec_ksymbol *k)
{
	struct scan name = scan_of(k->name, strlen(k->name));
	struct jit_code c = { .start = k->addr, .len = k->len };

	if (!p->n_bpf || !scan_take(&name, "bpf_prog_") ||
	    !scan_hex(&name, &c.number))
		return NULL;
	const uint32_t at =
		table_find(&p->by_bpf, bpf_hash(&c), bpf_same, p, &c);

	return at == TABLE_NONE ? NULL : p->bpf[at];
}

/* ---- the processor: nothing else uses these facts; each becomes a note, in
 * the form of perf report --header-only */

/* Takes u32 n and n pairs of name and value, the capabilities of a PMU. Appends
 * "NAME=VALUE" of each to the note, as far as they fit. */
static int cpu_take_pairs(struct bytes *b, char *note, struct err *err)
{
	const char *name;
	const char *value;
	uint32_t n;

	if (bytes_u32(b, &n, err))
		return -1;
	for (; n; n--) {
		size_t at = strlen(note);

		if (perf_feature_take_string(b, &name, err) ||
		    perf_feature_take_string(b, &value, err))
			return -1;
		if ((size_t)snprintf(note + at, NOTE_SIZE - at, "%s%s=%s",
				     at ? ", " : "", name,
				     value) >= NOTE_SIZE - at)
			note[at] = '\0';
	}
	return 0;
}

/* the PMU of a virtual machine may have no capabilities */
static void cpu_note_pmu(struct perf *p, const char *pmu, const char *pairs)
{
	char note[NOTE_SIZE + 80];

	if (!*pairs)
		return;
	snprintf(note, sizeof(note), "PMU %.64s: %s", pmu, pairs);
	perf_note(p, "PMU", note);
}

static int perf_feature_cpu_pmu_caps(struct perf *p, struct bytes *b,
				     struct err *err)
{
	char pairs[NOTE_SIZE] = "";

	if (cpu_take_pairs(b, pairs, err))
		return -1;
	cpu_note_pmu(p, "cpu", pairs);
	return 0;
}

static int perf_feature_pmu_caps(struct perf *p, struct bytes *b,
				 struct err *err)
{
	const char *pmu;
	uint32_t n;

	if (bytes_u32(b, &n, err))
		return -1;
	for (; n; n--) {
		char pairs[NOTE_SIZE] = "";

		if (cpu_take_pairs(b, pairs, err) ||
		    perf_feature_take_string(b, &pmu, err))
			return -1;
		cpu_note_pmu(p, pmu, pairs);
	}
	return 0;
}

/* Takes u32 version of /proc/schedstat and a u32 that is skipped; then to the
 * end for each CPU u32 cpu, u32 n, and n domains: u32 number, a name since
 * version 17, and its CPUs as a mask and as a list. */
static int perf_feature_cpu_domains(struct perf *p, struct bytes *b,
				    struct err *err)
{
	char note[NOTE_SIZE];
	uint32_t version, n;
	uint32_t most = 0;
	uint32_t cpus = 0;
	const char *s;

	if (bytes_u32(b, &version, err) || bytes_skip(b, 4, err))
		return -1;
	for (; bytes_left(b) >= 8; cpus++) {
		if (bytes_skip(b, 4, err) || bytes_u32(b, &n, err))
			return -1;
		raise_to(most, n);
		for (; n; n--)
			if (bytes_skip(b, 4, err) ||
			    (version >= DOMAINS_NAMED &&
			     perf_feature_take_string(b, &s, err)) ||
			    perf_feature_take_string(b, &s, err) ||
			    perf_feature_take_string(b, &s, err))
				return -1;
	}
	snprintf(note, sizeof(note),
		 "%" PRIu32 " CPUs with up to %" PRIu32
		 " scheduling domain%s each (schedstat %" PRIu32 ")",
		 cpus, most, most == 1 ? "" : "s", version);
	perf_note(p, "domains", note);
	return 0;
}

static int perf_feature_cache_line(struct perf *p, struct bytes *b,
				   struct err *err)
{
	char note[NOTE_SIZE];
	uint32_t size;

	if (bytes_u32(b, &size, err))
		return -1;
	snprintf(note, sizeof(note), "cache lines of %" PRIu32 " bytes", size);
	perf_note(p, "cache line", note);
	return 0;
}

static int perf_feature_parse(struct perf *p, uint32_t bit, struct bytes *b,
			      size_t padding, struct err *err)
{
	struct source_info *info = &p->src.info;
	const char **const string[] = {
		[FEAT_HOSTNAME] = &info->host,
		[FEAT_OSRELEASE] = &info->release,
		[FEAT_VERSION] = &info->version,
		[FEAT_CPUDESC] = &info->cpudesc,
	};
	static int (*const parse[])(struct perf *, struct bytes *,
				    struct err *) = {
		[FEAT_BUILD_ID] = perf_feature_build_ids,
		[FEAT_ARCH] = perf_feature_arch,
		[FEAT_NRCPUS] = perf_feature_cpus,
		[FEAT_CMDLINE] = perf_feature_cmdline,
		[FEAT_EVENT_DESC] = perf_feature_event_desc,
		[FEAT_CPU_PMU_CAPS] = perf_feature_cpu_pmu_caps,
		[FEAT_BPF_PROG_INFO] = perf_feature_bpf,
		[FEAT_CLOCK_DATA] = perf_feature_clock_data,
		[FEAT_PMU_CAPS] = perf_feature_pmu_caps,
		[FEAT_CPU_DOMAIN_INFO] = perf_feature_cpu_domains,
		[FEAT_E_MACHINE] = perf_feature_e_machine,
		[FEAT_CLN_SIZE] = perf_feature_cache_line,
		[FEAT_FILE] = perf_simpleperf_files,
		[FEAT_META_INFO] = perf_simpleperf_meta,
	};

	int rc = 0;

	if (bit < ARRAY_SIZE(string) && string[bit])
		rc = perf_feature_copy_string(p, b, string[bit], err);
	else if (bit < ARRAY_SIZE(parse) && parse[bit])
		rc = parse[bit](p, b, err);
	else
		return 0;
	return rc ? rc : rest_padding(b, padding, err);
}

void perf_feature_take(struct perf *p, uint32_t bit, struct bytes *b,
		       size_t padding)
{
	uint64_t off = bytes_off(b);
	uint64_t len = bytes_left(b);
	struct err e;

	if (bit >= FEAT_SIMPLEPERF && !p->simpleperf) {
		perf_note(p, "simpleperf",
			  "simpleperf recorded this file: its samples are "
			  "read, its own list of files and functions (feature "
			  "sections from 128 on) is not; give the files with "
			  "--symfs, or use 'simpleperf report'");
		p->simpleperf = true;
	}
	if (bit == FEAT_TRACING_DATA) {
		perf_tracing_data(p, b, padding);
	} else if (perf_feature_parse(p, bit, b, padding, &e)) {
		err_while(&e, "reading feature section %" PRIu32, bit);
		perf_damage(p, "feature", off, len, &e);
	}
}
