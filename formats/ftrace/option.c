/* option.c - reads the options of a trace.dat: clock, host, buffers, losses,
 * mappings. */
#include <ctype.h>
#include <inttypes.h>

#include "formats/ftrace/ftrace.h"
#include "formats/ftrace/pack.h"
#include "formats/ftrace/page.h"
#include "formats/reader/reader.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/user_mask.h"

/* ---- finds the sections of a trace.dat that no table names */

int ft_section_head(const struct ft *ft, uint64_t off, struct ft_section *s,
		    struct err *err)
{
	struct bytes b;
	uint32_t name;

	bytes_init(&b, ft->in.data, ft->in.len, ft->in.path, 0, ft->swap);
	if (bytes_skip(&b, off, err) || bytes_u16(&b, &s->id, err) ||
	    bytes_u16(&b, &s->flags, err) || bytes_u32(&b, &name, err) ||
	    bytes_u64(&b, &s->size, err))
		return -1;
	s->off = off + FT_SECTION_HEAD;
	return 0;
}

/* Returns the end of the sections from off on whose kinds no option has to
 * name, such as the table of strings. */
static uint64_t ft_claims_skip_unnamed(void *arg, uint64_t off, uint64_t end)
{
	const struct ft *ft = arg;
	struct ft_section s;

	while (ft->version >= 7 && off < end &&
	       !ft_section_head(ft, off, &s, NULL) && s.off <= end &&
	       s.size <= end - s.off &&
	       (s.id == FT_STRINGS || s.id > FT_CMDLINES))
		off = s.off + s.size;
	return off;
}

void ft_claims_check(struct ft *ft)
{
	struct bytes file;

	bytes_init(&file, ft->in.data, ft->in.len, ft->in.path, 0, ft->swap);
	claims_check(&ft->claims, &ft->src, &file, ft_claims_skip_unnamed, ft);
}

#define STATS_MAX 65536u
#define INSTANCES_MAX 4096u
/* Room for the name of an instance: it is a folder of tracefs, with up to 255
 * bytes. */
#define NAME_SIZE 256

/* Returns the number at the start of s: "0x5f3c", "-17", "12". */
static int64_t ft_option_int(const char *s)
{
	bool minus = false;
	uint64_t v = 0;
	unsigned int base = 10;

	while (isspace((unsigned char)*s))
		s++;
	if (*s == '-' || *s == '+')
		minus = *s++ == '-';
	if (s[0] == '0' && (s[1] | 32) == 'x') {
		base = 16;
		s += 2;
	}
	for (; isxdigit((unsigned char)*s); s++) {
		unsigned int c = (unsigned char)*s | 32u;
		unsigned int d = c >= 'a' ? c - 'a' + 10 : c - '0';

		if (d >= base)
			break;
		v = v * base + d;
	}
	return (int64_t)(minus ? -v : v);
}

static void ft_option_add_shift(struct ft *ft, const char *s, int64_t unit)
{
	uint64_t ns = (uint64_t)ft_option_int(s) * (uint64_t)unit;

	ft->shift = (int64_t)((uint64_t)ft->shift + ns);
}

uint32_t ft_instance_add(struct ft *ft, const char *name, const char *clock,
			 uint64_t section, uint32_t subbuf)
{
	if (ft->n_inst >= INSTANCES_MAX)
		return INSTANCES_MAX - 1;
	mem_grow(ft->inst, ft->cap_inst, ft->n_inst + 1);
	char plain[NAME_SIZE];

	snprintf(plain, sizeof(plain), "%s", name);
	ft->inst[ft->n_inst] = (struct ft_instance){
		.name = arena_strdup(&ft->arena, plain),
		.clock = clock && *clock ? arena_strdup(&ft->arena, clock)
					 : NULL,
		.section = section,
		.subbuf = subbuf,
	};
	return (uint32_t)ft->n_inst++;
}

/* Reads a buffer with a ring for each CPU. The flags of its section show
 * whether the rings are compressed. */
static int ft_option_buffer7(struct ft *ft, struct bytes *b, struct err *err)
{
	const char *name, *clock;
	uint64_t section, off, len, end = 0;
	uint32_t subbuf, n, cpu;
	struct ft_section s;

	if (bytes_u64(b, &section, err) || bytes_str(b, &name, err) ||
	    bytes_str(b, &clock, err) || bytes_u32(b, &subbuf, err) ||
	    bytes_u32(b, &n, err))
		return -1;
	if (subbuf < 64 || subbuf > FT_SUBBUF_MAX)
		return err_at(err, b->path, bytes_off(b),
			      "pages of %" PRIu32 " bytes, needs 64 to %u",
			      subbuf, FT_SUBBUF_MAX);
	if (any_where(ft->n_inst, i, ft->inst[i].section == section))
		return 0;
	uint32_t inst = ft_instance_add(ft, name, clock, section, subbuf);

	if (ft_section_head(ft, section, &s, err))
		return -1;
	if (s.id != FT_BUFFER)
		return err_at(err, ft->in.path, section,
			      "section %u, needs a buffer's", s.id);
	claims_add(&ft->claims, section, s.off - section);
	for (uint32_t i = 0; i < n; i++) {
		if (bytes_u32(b, &cpu, err) || bytes_u64(b, &off, err) ||
		    bytes_u64(b, &len, err))
			return -1;
		if (s.flags & 1)
			ft_stream_packed(ft, inst, (int32_t)cpu, off, len,
					 NULL);
		else
			ft_stream_plain(ft, inst, (int32_t)cpu, off, len);
		end = len && off + len > end ? off + len : end;
	}
	claims_check_rest(&ft->src, b, "the option of a buffer");
	/* trace-cmd 3.1 does not include the count of chunks in the length of a
	 * compressed ring */
	if (end && end - s.off != s.size &&
	    !(s.flags & 1 && end - s.off + 4 == s.size))
		reader_damage_text(&ft->src, ft->in.path, "size", s.off - 8, 8,
				   "the section of a buffer has %" PRIu64
				   " bytes, but its rings end after %" PRIu64,
				   s.size, end - s.off);
	return 0;
}

int ft_option_read(struct ft *ft, uint16_t id, struct bytes *b, struct err *err)
{
	/* most options are a text, which may lack its NUL */
	char *text OWNED =
		mem_dup(b->pos, strnlen((const char *)b->pos, bytes_left(b)));
	struct source_info *info = &ft->src.info;
	const char *name = "";
	char line[128];

	switch (id) {
	case FT_DATE:
		ft_option_add_shift(ft, text, 1000);
		return 0;
	case FT_OFFSET:
		ft->moved = true;
		ft_option_add_shift(ft, text, 1);
		return 0;
	case FT_CPUSTAT: {
		/* trace-cmd writes a heading, then one option for each CPU of
		 * the buffer in the heading. */
		if (!strncmp(text, "\nBuffer: ", 9))
			ft->stat_buffer = arena_strndup(
				&ft->arena, text + 9, strcspn(text + 9, "\n"));
		if (strncmp(text, "CPU:", 4) || ft->n_stat >= STATS_MAX)
			return 0;
		const struct scan all = scan_of(text, strlen(text));
		const uint64_t read = trace_stats_number(all, "read events:");

		*mem_add(ft->stat, ft->n_stat, ft->cap_stat) = (struct ft_stat){
			.buffer = ft->stat_buffer,
			.cpu = (int32_t)ft_option_int(text + 4),
			.lost = { [LOST_BEFORE] =
					  trace_stats_number(all, "overrun:"),
				  [LOST_WITHIN] = saturating_add(
					  trace_stats_number(all,
							     "dropped events:"),
					  trace_stats_number(
						  all, "commit overrun:")) },
			.had = read ? read
				    : trace_stats_number(all, "entries:"),
		};
		return 0;
	}
	case FT_BUFFER: {
		uint64_t off;

		if (ft->version >= 7)
			return ft_option_buffer7(ft, b, err);
		/* the offset of a table like the top buffer's */
		if (bytes_u64(b, &off, err) || bytes_str(b, &name, err))
			return -1;
		ft_instance_add(ft, name, NULL, off, ft->subbuf);
		return 0;
	}
	case FT_TRACECLOCK: {
		struct scan clock =
			trace_clock_chosen(scan_of(text, strlen(text)));

		if (clock.n && !info->clock)
			info->clock =
				arena_strndup(&ft->arena, clock.p, clock.n);
		return 0;
	}
	case FT_UNAME: {
		/* "Linux HOST RELEASE MACHINE" */
		const char **const to[] = { NULL, &info->host, &info->release,
					    &info->arch };
		char *rest = text;

		for (size_t i = 0; rest && i < ARRAY_SIZE(to); i++) {
			char *w = strsep(&rest, " \n");

			if (to[i] && *w)
				*to[i] = arena_strdup(&ft->arena, w);
		}
		info->user_mask = user_mask_of(info->arch);
		return 0;
	}
	case FT_CPUCOUNT: {
		uint32_t n;

		if (bytes_u32(b, &n, err))
			return -1;
		if (n <= 1 << 20)
			info->cpus_online = (int32_t)n;
		return 0;
	}
	case FT_VERSION:
		snprintf(line, sizeof(line), "trace-cmd %s", text);
		info->version = arena_strdup(&ft->arena, line);
		return 0;
	case FT_PROCMAPS:
		ft_maps_read(ft, text);
		return 0;
	case FT_TRACEID:
		return bytes_u64(b, &ft->trace_id, err);
	case FT_TIME_SHIFT:
		return ft_sync_read(ft, b, err);
	case FT_LAST_BOOT:
		ft_boot_read(ft, text);
		return 0;
	case FT_TSC2NSEC:
		if (bytes_u32(b, &ft->mult, err) ||
		    bytes_u32(b, &ft->mult_shift, err))
			return -1;
		if (ft->mult_shift > 63)
			ft->mult = 0;
		return 0;
	case FT_GUEST:
		snprintf(line, sizeof(line), "guest '%.60s' was traced too",
			 bytes_str(b, &name, NULL) ? "" : name);
		reader_note(&ft->src, "machine", line);
		return 0;
	case FT_BUFFER_TEXT:
		reader_note(&ft->src, "text",
			    "the buffer was stored as text, which is not read: "
			    "give the text itself, or record without a latency "
			    "tracer");
		return 0;
	default:
		if (id >= FT_KNOWN)
			ledger_skip(ft->src.ledger, ft->src.index, "option", id,
				    bytes_off(b), NULL);
		return 0;
	}
}
