/* expr.c - evaluates the expressions in a tracepoint's print format. */
#include "formats/tracepoint/expr.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>

#include "formats/tracepoint/text.h"
#include "stitch/base/text_out.h"
#include "stitch/base/words.h"
#include "stitch/source.h"

/* ---- numbers of kernel enums that print formats name.
 *
 * A macro is already a number in a format, but the name of an enum stays a name
 * unless the kernel has a TRACE_DEFINE_ENUM() for it. Its number is in the
 * kernel's headers, which are named above the rows; a row for one release only
 * means that the order of the enum has changed between releases. */

/* Names in the order of their numbers: each is one more than the previous, or
 * the next bit. */
struct kernel_names {
	const char *names;
	uint32_t first;
	bool bits;
	uint16_t release; /* the only release they hold for; 0: for all */
};

static const struct kernel_names rows[] = {
	/* include/net/tcp_states.h */
	{ "TCP_ESTABLISHED TCP_SYN_SENT TCP_SYN_RECV TCP_FIN_WAIT1 "
	  "TCP_FIN_WAIT2 TCP_TIME_WAIT TCP_CLOSE TCP_CLOSE_WAIT TCP_LAST_ACK "
	  "TCP_LISTEN TCP_CLOSING TCP_NEW_SYN_RECV",
	  1, false, 0 },
	/* include/uapi/linux/ioprio.h */
	{ "IOPRIO_CLASS_NONE IOPRIO_CLASS_RT IOPRIO_CLASS_BE "
	  "IOPRIO_CLASS_IDLE",
	  0, false, 0 },
	{ "IOPRIO_CLASS_INVALID", 7, false, 0 },
	/* include/linux/hrtimer.h, from 5.4 on with HARD */
	{ "HRTIMER_MODE_ABS HRTIMER_MODE_REL HRTIMER_MODE_ABS_PINNED "
	  "HRTIMER_MODE_REL_PINNED HRTIMER_MODE_ABS_SOFT "
	  "HRTIMER_MODE_REL_SOFT HRTIMER_MODE_ABS_PINNED_SOFT "
	  "HRTIMER_MODE_REL_PINNED_SOFT HRTIMER_MODE_ABS_HARD "
	  "HRTIMER_MODE_REL_HARD HRTIMER_MODE_ABS_PINNED_HARD "
	  "HRTIMER_MODE_REL_PINNED_HARD",
	  0, false, 0 },
	/* enum vm_fault_reason, include/linux/mm_types.h */
	{ "VM_FAULT_OOM VM_FAULT_SIGBUS VM_FAULT_MAJOR", 1, true, 0 },
	{ "VM_FAULT_HWPOISON VM_FAULT_HWPOISON_LARGE VM_FAULT_SIGSEGV", 0x10,
	  true, 0 },
	{ "VM_FAULT_NOPAGE VM_FAULT_LOCKED VM_FAULT_RETRY VM_FAULT_FALLBACK "
	  "VM_FAULT_DONE_COW VM_FAULT_NEEDDSYNC VM_FAULT_COMPLETED",
	  0x100, true, 0 },
	/* enum fault_flag, include/linux/mm_types.h */
	{ "FAULT_FLAG_WRITE FAULT_FLAG_MKWRITE FAULT_FLAG_ALLOW_RETRY "
	  "FAULT_FLAG_RETRY_NOWAIT FAULT_FLAG_KILLABLE FAULT_FLAG_TRIED "
	  "FAULT_FLAG_USER FAULT_FLAG_REMOTE FAULT_FLAG_INSTRUCTION "
	  "FAULT_FLAG_INTERRUPTIBLE",
	  1, true, 0 },
	{ "FAULT_FLAG_VMA_LOCK", 0x1000, false, 0 },
	/* include/linux/mmzone.h, since 5.17 */
	{ "VMSCAN_THROTTLE_WRITEBACK VMSCAN_THROTTLE_ISOLATED "
	  "VMSCAN_THROTTLE_NOPROGRESS VMSCAN_THROTTLE_CONGESTED",
	  0, false, 0 },
	/* include/linux/pm_qos.h */
	{ "PM_QOS_ADD_REQ PM_QOS_UPDATE_REQ PM_QOS_REMOVE_REQ", 0, false, 0 },
	/* include/linux/pm_qos.h */
	{ "DEV_PM_QOS_RESUME_LATENCY", 1, false, 6018 },
	{ "DEV_PM_QOS_FLAGS", 5, false, 6018 },
	/* include/vdso/clocksource.h, of x86 */
	{ "VDSO_CLOCKMODE_NONE VDSO_CLOCKMODE_TSC", 0, false, 0 },
	/* arch/x86/include/asm/vmx.h, which follows the CPU's manual */
	{ "VMXERR_VMLAUNCH_NONCLEAR_VMCS VMXERR_VMRESUME_NONLAUNCHED_VMCS "
	  "VMXERR_VMRESUME_AFTER_VMXOFF VMXERR_ENTRY_INVALID_CONTROL_FIELD "
	  "VMXERR_ENTRY_INVALID_HOST_STATE_FIELD",
	  4, false, 0 },
	{ "VMXERR_ENTRY_EVENTS_BLOCKED_BY_MOV_SS", 0x1a, false, 0 },
	/* arch/x86/include/asm/kvm_host.h */
	{ "APICV_INHIBIT_REASON_DISABLED APICV_INHIBIT_REASON_HYPERV "
	  "APICV_INHIBIT_REASON_ABSENT APICV_INHIBIT_REASON_BLOCKIRQ "
	  "APICV_INHIBIT_REASON_PHYSICAL_ID_ALIASED "
	  "APICV_INHIBIT_REASON_APIC_ID_MODIFIED "
	  "APICV_INHIBIT_REASON_APIC_BASE_MODIFIED "
	  "APICV_INHIBIT_REASON_NESTED APICV_INHIBIT_REASON_IRQWIN "
	  "APICV_INHIBIT_REASON_PIT_REINJ APICV_INHIBIT_REASON_SEV "
	  "APICV_INHIBIT_REASON_LOGICAL_ID_ALIASED "
	  "APICV_INHIBIT_REASON_PHYSICAL_ID_TOO_BIG",
	  0, false, 6018 },
	/* enum inode_state_flags_enum, include/linux/fs.h */
	{ "I_NEW I_SYNC I_LRU_ISOLATING", 1, true, 6018 },
	{ "I_DIRTY_SYNC I_DIRTY_DATASYNC I_DIRTY_PAGES I_WILL_FREE I_FREEING "
	  "I_CLEAR I_REFERENCED I_LINKABLE I_DIRTY_TIME I_WB_SWITCH "
	  "I_OVL_INUSE I_CREATING I_DONTCACHE I_SYNC_QUEUED "
	  "I_PINNING_NETFS_WB",
	  0x10, true, 6018 },
	/* fs/btrfs/ordered-data.h */
	{ "BTRFS_ORDERED_REGULAR BTRFS_ORDERED_NOCOW BTRFS_ORDERED_PREALLOC "
	  "BTRFS_ORDERED_COMPRESSED BTRFS_ORDERED_DIRECT "
	  "BTRFS_ORDERED_IO_DONE BTRFS_ORDERED_COMPLETE BTRFS_ORDERED_IOERR "
	  "BTRFS_ORDERED_TRUNCATED",
	  0, false, 6018 },
	/* fs/btrfs/delayed-ref.h */
	{ "BTRFS_ADD_DELAYED_REF BTRFS_DROP_DELAYED_REF "
	  "BTRFS_ADD_DELAYED_EXTENT BTRFS_UPDATE_DELAYED_HEAD",
	  1, false, 6018 },
	/* fs/btrfs/extent_map.h */
	{ "EXTENT_FLAG_PINNED EXTENT_FLAG_COMPRESS_ZLIB "
	  "EXTENT_FLAG_COMPRESS_LZO EXTENT_FLAG_COMPRESS_ZSTD "
	  "EXTENT_FLAG_PREALLOC EXTENT_FLAG_LOGGING",
	  1, true, 6018 },
	/* fs/btrfs/extent-io-tree.h */
	{ "EXTENT_DIRTY EXTENT_LOCKED", 1, true, 6018 },
	{ "EXTENT_DIRTY_LOG1 EXTENT_DIRTY_LOG2 EXTENT_DELALLOC EXTENT_DEFRAG "
	  "EXTENT_BOUNDARY EXTENT_NODATASUM EXTENT_CLEAR_META_RESV "
	  "EXTENT_NEED_WAIT EXTENT_NORESERVE EXTENT_QGROUP_RESERVED "
	  "EXTENT_CLEAR_DATA_RESV EXTENT_DELALLOC_NEW",
	  8, true, 6018 },
	/* fs/btrfs/qgroup.h */
	{ "QGROUP_RESERVE QGROUP_RELEASE QGROUP_FREE", 1, true, 6018 },
	/* include/linux/gfp_types.h since 6.10; the bits above these depend on
	 * the configuration */
	{ "___GFP_DMA_BIT ___GFP_HIGHMEM_BIT ___GFP_DMA32_BIT "
	  "___GFP_MOVABLE_BIT ___GFP_RECLAIMABLE_BIT ___GFP_HIGH_BIT "
	  "___GFP_IO_BIT ___GFP_FS_BIT ___GFP_ZERO_BIT ___GFP_UNUSED_BIT "
	  "___GFP_DIRECT_RECLAIM_BIT ___GFP_KSWAPD_RECLAIM_BIT "
	  "___GFP_WRITE_BIT ___GFP_NOWARN_BIT ___GFP_RETRY_MAYFAIL_BIT "
	  "___GFP_NOFAIL_BIT ___GFP_NORETRY_BIT ___GFP_MEMALLOC_BIT "
	  "___GFP_COMP_BIT ___GFP_NOMEMALLOC_BIT ___GFP_HARDWALL_BIT "
	  "___GFP_THISNODE_BIT ___GFP_ACCOUNT_BIT ___GFP_ZEROTAGS_BIT",
	  0, false, 0 },
};

uint32_t kernel_release_number(const char *text)
{
	char *end;
	unsigned long major = strtoul(text, &end, 10);
	unsigned long minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;

	return end != text && major < 1000 && minor < 1000
		       ? (uint32_t)(major * 1000 + minor)
		       : 0;
}

bool kernel_name_value(const char *name, size_t n, uint32_t release,
		       int64_t *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct kernel_names *k = &rows[i];
		const int at = words_find(k->names, name, n);

		if (at < 0 || (k->release && k->release != release))
			continue;
		*out = k->bits ? k->first << at : k->first + (uint32_t)at;
		return true;
	}
	return false;
}

/* ---- the types that print formats cast to and that fields are declared
 * with */

size_t expr_types_word(const char **s, const char **word)
{
	while (isspace((unsigned char)**s))
		++*s;
	*word = *s;
	while (isalnum((unsigned char)**s) || **s == '_')
		++*s;
	return (size_t)(*s - *word);
}

static bool expr_types_star(const char **s)
{
	while (isspace((unsigned char)**s))
		++*s;
	if (**s != '*')
		return false;
	++*s;
	return true;
}

struct expr_type_names {
	const char *names;
	uint8_t bytes; /* 0: the words do not determine the size */
	enum {
		TYPE_SIGNED,
		TYPE_UNSIGNED,
		TYPE_EITHER
	} sign;
	enum {
		TYPE_IS,
		TYPE_LONG,
		TYPE_TAG
	} what;
};

/* Words of types, the most frequent first. LONG: 4 bytes on a 32-bit machine,
 * and a second one makes 8; TAG: another word follows. The kernel's own names
 * are those that formats of Linux 3.0 to 7.3 cast to. */
static const struct expr_type_names types[] = {
	{ "unsigned", 0, TYPE_UNSIGNED, TYPE_IS },
	{ "char s8 __s8 int8_t", 1, TYPE_SIGNED, TYPE_IS },
	{ "int", 4, TYPE_EITHER, TYPE_IS },
	{ "u32 __u32 uint32_t __be32 __le32 uint dev_t fmode_t gfp_t "
	  "isolate_mode_t vm_fault_t blk_opf_t",
	  4, TYPE_UNSIGNED, TYPE_IS },
	{ "short", 2, TYPE_EITHER, TYPE_IS },
	{ "u64 __u64 uint64_t __be64 __le64 sector_t dma_addr_t phys_addr_t "
	  "xfs_fsblock_t",
	  8, TYPE_UNSIGNED, TYPE_IS },
	{ "long", 8, TYPE_EITHER, TYPE_LONG },
	{ "const volatile static", 0, TYPE_EITHER, TYPE_IS },
	{ "struct union", 0, TYPE_EITHER, TYPE_TAG },
	{ "u16 __u16 uint16_t __be16 __le16 umode_t", 2, TYPE_UNSIGNED,
	  TYPE_IS },
	{ "void bool u8 __u8 uint8_t uchar", 1, TYPE_UNSIGNED, TYPE_IS },
	{ "signed", 0, TYPE_SIGNED, TYPE_IS },
	{ "enum", 4, TYPE_UNSIGNED, TYPE_TAG },
	{ "s16 __s16 int16_t", 2, TYPE_SIGNED, TYPE_IS },
	{ "s32 __s32 int32_t __kernel_rwf_t pid_t", 4, TYPE_SIGNED, TYPE_IS },
	{ "s64 __s64 int64_t loff_t ktime_t xfs_daddr_t", 8, TYPE_SIGNED,
	  TYPE_IS },
	{ "ssize_t", 8, TYPE_SIGNED, TYPE_LONG },
	{ "ulong size_t uintptr_t ino_t pgoff_t", 8, TYPE_UNSIGNED, TYPE_LONG },
};

bool expr_types_take(const char **s, bool long32, struct expr_declared *out)
{
	const char *was = *s;
	const char *w;
	size_t n;
	bool any = false;
	bool is_signed = true;
	bool sign = false;
	uint8_t bytes = 0;
	unsigned int longs = 0;

	for (;; any = true) {
		was = *s;
		n = expr_types_word(s, &w);
		const struct expr_type_names *t = NULL;

		for (size_t i = 0; !t && i < ARRAY_SIZE(types); i++)
			if (words_find(types[i].names, w, n) >= 0)
				t = &types[i];

		if (!t)
			break;
		if (t->what == TYPE_TAG) {
			expr_types_word(s, &w);
			bytes = t->bytes;
		}
		longs += t->what == TYPE_LONG;
		if (t->bytes && !longs)
			bytes = bytes && bytes < t->bytes ? bytes : t->bytes;
		if (t->what == TYPE_LONG)
			bytes = long32 && longs < 2 ? 4 : 8;
		if (t->sign != TYPE_EITHER && !sign)
			is_signed = t->sign == TYPE_SIGNED;
		sign |= t->sign != TYPE_EITHER && !t->bytes;
	}
	*s = was;
	if (!any)
		return false;
	if (!bytes && sign)
		bytes = 4;
	*out = (struct expr_declared){ .is = { bytes, is_signed } };
	while (expr_types_star(s)) {
		out->to = out->is;
		out->pointer = true;
		out->is = (struct expr_type){ long32 ? 4 : 8, false };
		was = *s;
		n = expr_types_word(s, &w);
		if (!expr_word_is(w, n, "const"))
			*s = was;
	}
	return true;
}

uint32_t expr_types_element(const char *declared, const char *end)
{
	static const char *const places[] = { "__data_loc ", "__rel_loc " };
	struct expr_declared type;
	char decl[64];
	const char *s = decl;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const size_t n = strlen(places[i]);

		if ((size_t)(end - declared) > n &&
		    !memcmp(declared, places[i], n))
			declared += n;
	}
	snprintf(decl, sizeof(decl), "%.*s", (int)(end - declared), declared);
	return expr_types_take(&s, false, &type) && type.is.bytes
		       ? type.is.bytes
		       : 1;
}

static struct expr_value expr_number(uint64_t n)
{
	return (struct expr_value){ .kind = EXPR_NUM, .num = n };
}

static struct expr_value expr_fail(struct expr *e)
{
	e->failed = true;
	return expr_number(0);
}

/* Appends to the output. Sets e->failed if the text does not fit. */
static void expr_append(struct expr *e, const char *fmt, ...)
	__attribute__((format(__printf__, 2, 3)));
static void expr_append(struct expr *e, const char *fmt, ...)
{
	size_t room = sizeof(e->text) - e->n_text;
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(e->text + e->n_text, room, fmt, ap);

	va_end(ap);
	if (n < 0 || (size_t)n >= room)
		e->failed = true;
	else
		e->n_text += (size_t)n;
}

/* Begins a new text after those of earlier arguments, and returns its start. */
static const char *expr_begin_text(struct expr *e)
{
	if (e->n_text + 2 < sizeof(e->text) && e->n_text)
		e->n_text++; /* keep the NUL of the last text */
	e->text[e->n_text] = 0;
	return e->text + e->n_text;
}

/* Returns the number of a node. The fast path is for numbers in the format:
 * most are. */
static uint64_t expr_number_of(struct expr *e, uint32_t node)
{
	const struct expr_node *n = &e->tree->node[node];

	return n->op == EXPR_NUMBER ? n->num : expr_evaluate(e, node).num;
}

/* Sets *out to the number of a pair. Returns false if the number is not known,
 * as that of an enum's name may be. */
static bool expr_pair_number(struct expr *e, const struct expr_node *pair,
			     uint64_t *out)
{
	const bool was = e->unknown;

	*out = expr_number_of(e, pair->a);
	if (was || !e->unknown)
		return true;
	e->unknown = false;
	return false;
}

/* Prints the names of all bits that are set, like trace_print_flags_seq() of
 * Linux; prints nothing for 0. Bits that are left may belong to a name without
 * a known number. */
static struct expr_value expr_flags(struct expr *e, const struct expr_node *of)
{
	uint64_t v = expr_number_of(e, of->a);
	const struct expr_node *pair;
	const char *start = expr_begin_text(e);
	bool any = false;
	bool unknown = false;
	uint64_t mask;

	for (uint32_t i = of->b; i && v; i = pair->b) {
		pair = &e->tree->node[i];
		if (!expr_pair_number(e, pair, &mask)) {
			unknown = true;
			continue;
		}
		if ((v & mask) != mask)
			continue;
		expr_append(e, "%s%s", any ? of->text : "", pair->text);
		any = true;
		v &= ~mask;
	}
	e->failed |= v && unknown;
	if (v)
		expr_append(e, "%s0x%" PRIx64, any ? of->text : "", v);
	return (struct expr_value){ .kind = EXPR_TEXT, .text = start };
}

/* Prints "{0x1,0x2}". */
static struct expr_value expr_array(struct expr *e, const struct expr_node *of)
{
	struct expr_value v = expr_evaluate(e, of->a);
	uint64_t elem = expr_number_of(e, of->c);
	uint64_t n = of->b ? expr_number_of(e, of->b) : elem ? v.len / elem : 0;
	const char *start = expr_begin_text(e);
	bool ok = elem <= 8;

	expr_append(e, "{");
	for (uint64_t i = 0; i < n && ok; i++) {
		uint64_t x = expr_element(&e->on, &v, (uint32_t)elem, i, &ok);

		expr_append(e, "%s0x%" PRIx64, i ? "," : "", x);
	}
	expr_append(e, "}");
	e->failed |= !ok;
	return (struct expr_value){ .kind = EXPR_TEXT, .text = start };
}

/* Prints the addresses of a field that is a stack, of which the first number is
 * the count; or the field's text, if it has one already. */
static struct expr_value expr_addresses(struct expr *e,
					const struct expr_node *of)
{
	struct expr_value v = expr_evaluate(e, of->a);
	bool ok = true;

	if (v.kind == EXPR_TEXT)
		return v;
	if (v.kind != EXPR_BLOB)
		return expr_fail(e);
	const char *start = expr_begin_text(e);

	for (uint64_t i = 0; ok; i++) {
		uint64_t addr =
			expr_element(&e->on, &v, e->on.long32 ? 4 : 8, i, &ok);

		ok &= addr != 0;
		if (ok && (i || addr >= v.len))
			expr_append(e, " => %" PRIx64, addr);
	}
	return (struct expr_value){ .kind = EXPR_TEXT, .text = start };
}

/* Returns the bytes of a number field in the payload's byte order. */
static struct expr_value expr_address(struct expr *e, const struct expr_node *n)
{
	const struct expr_node *f = &e->tree->node[n->a];
	struct expr_value v = expr_evaluate(e, n->a);
	const bool big = e->on.swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

	if (v.kind != EXPR_NUM)
		return v;
	expr_begin_text(e);
	if (f->op != EXPR_FIELD || e->n_text + f->type.bytes >= sizeof(e->text))
		return expr_fail(e);
	v = (struct expr_value){
		.kind = EXPR_BLOB,
		.num = v.num,
		.blob = (const unsigned char *)e->text + e->n_text,
		.len = f->type.bytes,
		.elem = f->type.bytes,
		.is_signed = f->type.is_signed,
	};
	for (uint32_t i = 0; i < v.len; i++)
		e->text[e->n_text + (big ? v.len - 1 - i : i)] =
			(char)(v.num >> (8 * i));
	e->n_text += v.len;
	return v;
}

/* Returns the result of an operator. a and b have the type of the result or, in
 * a comparison, their common type. */
static uint64_t expr_apply(struct expr *e, const struct expr_node *n,
			   uint64_t a, uint64_t b)
{
	const uint64_t sign = n->size ? (uint64_t)1 << 63 : 0;
	const unsigned int bits = n->type.bytes * 8u;

	switch (n->op) {
	case EXPR_NOT:
		return !a;
	case EXPR_COMPLEMENT:
		return ~a;
	case EXPR_NEGATE:
		return -a;
	case EXPR_OR:
		return a || b;
	case EXPR_AND:
		return a && b;
	case EXPR_BIT_OR:
		return a | b;
	case EXPR_BIT_XOR:
		return a ^ b;
	case EXPR_BIT_AND:
		return a & b;
	case EXPR_EQUAL:
		return a == b;
	case EXPR_UNEQUAL:
		return a != b;
	case EXPR_LESS: /* the sign bit is flipped, so that signed numbers
			   compare like unsigned ones */
		return (a ^ sign) < (b ^ sign);
	case EXPR_LESS_EQUAL:
		return (a ^ sign) <= (b ^ sign);
	case EXPR_MORE:
		return (a ^ sign) > (b ^ sign);
	case EXPR_MORE_EQUAL:
		return (a ^ sign) >= (b ^ sign);
	case EXPR_LEFT:
		return b < bits ? a << b : 0;
	case EXPR_RIGHT:
		if (n->type.is_signed)
			return (uint64_t)((int64_t)a >> (b < bits ? b : 63));
		return b < bits ? a >> b : 0;
	case EXPR_PLUS:
		return a + b;
	case EXPR_MINUS:
		return a - b;
	case EXPR_TIMES:
		return a * b;
	case EXPR_DIVIDE:
	case EXPR_REST: {
		const bool rest = n->op == EXPR_REST;

		if (!b)
			return expr_fail(e).num;
		if (!n->type.is_signed)
			return rest ? a % b : a / b;
		if (b == UINT64_MAX) /* the least number has no negative */
			return rest ? 0 : -a;
		return (uint64_t)(rest ? (int64_t)a % (int64_t)b
				       : (int64_t)a / (int64_t)b);
	}
	default:
		return expr_fail(e).num;
	}
}

static bool expr_is_true(const struct expr_value *v)
{
	return v->num || (v->kind != EXPR_NUM && (v->text || v->len));
}

struct expr_value expr_evaluate(struct expr *e, uint32_t node)
{
	struct expr_value v;
	uint64_t num;

	if (e->failed)
		return expr_number(0);
	const struct expr_node *n = &e->tree->node[node];

	switch (n->op) {
	case EXPR_NUMBER:
		return expr_number(n->num);
	case EXPR_STRING:
		return (struct expr_value){
			.kind = EXPR_TEXT,
			.text = n->text,
			.blob = (const unsigned char *)n->text,
			.len = (uint32_t)strlen(n->text),
			.elem = 1,
		};
	case EXPR_FIELD: {
		const struct field *of = &e->field[n->num];

		v = (struct expr_value){ .elem = n->size,
					 .is_signed = n->type.is_signed };
		if (!of->present)
			return expr_fail(e);
		v.kind = of->text ? EXPR_TEXT : of->blob ? EXPR_BLOB : EXPR_NUM;
		v.num = (uint64_t)of->num;
		v.text = of->text;
		v.blob = of->text ? (const void *)of->text : of->blob;
		v.len = of->len;
		return v;
	}
	case EXPR_UNKNOWN:
		e->unknown = true;
		return expr_number(0);
	case EXPR_CHOICE:
		v = expr_evaluate(e, n->a);
		if (!n->b)
			return expr_is_true(&v) ? v : expr_evaluate(e, n->c);
		return expr_evaluate(e, expr_is_true(&v) ? n->b : n->c);
	case EXPR_CAST: /* a text stays a text */
		v = expr_evaluate(e, n->a);
		v.num = tp_narrow(v.num, n->type.bytes, n->type.is_signed);
		return v;
	case EXPR_POINTER:
		v = expr_evaluate(e, n->a);
		v.elem = n->size;
		v.is_signed = n->type.is_signed;
		return v;
	case EXPR_ADDRESS:
		return expr_address(e, n);
	case EXPR_LENGTH:
		return expr_number(expr_evaluate(e, n->a).len);
	case EXPR_INDEX: {
		/* an element of an array, or what a pointer points to */
		bool ok;

		v = expr_evaluate(e, n->a);
		num = expr_element(&e->on, &v, v.elem, expr_number_of(e, n->b),
				   &ok);
		if (!ok)
			return expr_fail(e);
		return expr_number(tp_narrow(num, (int)v.elem, v.is_signed));
	}
	case EXPR_FLAGS:
		return expr_flags(e, n);
	case EXPR_SYMBOLIC: {
		/* the name that the list has for the value */
		const struct expr_node *pair;
		uint64_t number;

		num = expr_number_of(e, n->a);
		for (uint32_t i = n->b; i; i = pair->b) {
			pair = &e->tree->node[i];
			if (!expr_pair_number(e, pair, &number))
				return expr_fail(e);
			if (number == num)
				return (struct expr_value){
					.kind = EXPR_TEXT, .text = pair->text
				};
		}
		const char *start = expr_begin_text(e);

		expr_append(e, "0x%" PRIx64, num);
		return (struct expr_value){ .kind = EXPR_TEXT, .text = start };
	}
	case EXPR_HEX: {
		/* "01 02 03" */
		uint64_t len;

		v = expr_evaluate(e, n->a);
		len = expr_number_of(e, n->b);
		const char *start = expr_begin_text(e);

		if (len > v.len || !v.blob)
			return expr_fail(e);
		for (uint64_t i = 0; i < len; i++)
			expr_append(e, "%s%02x", i ? n->text : "", v.blob[i]);
		return (struct expr_value){ .kind = EXPR_TEXT, .text = start };
	}
	case EXPR_ARRAY:
		return expr_array(e, n);
	case EXPR_BITMASK: {
		/* the words of a bitmap, the highest first:
		 * "00000000,00000003" */
		v = expr_evaluate(e, n->a);
		const char *start = expr_begin_text(e);
		struct text_out o = { .buf = e->text + e->n_text,
				      .size = sizeof(e->text) - e->n_text };

		if (v.kind != EXPR_BLOB || v.len > UINT16_MAX ||
		    !tp_out_bitmap(&o, &e->on, &v, v.len * 8, false) ||
		    o.len + 1 >= o.size)
			return expr_fail(e);
		e->n_text += o.len;
		return (struct expr_value){ .kind = EXPR_TEXT, .text = start };
	}
	case EXPR_ADDRESSES:
		return expr_addresses(e, n);
	default:
		num = expr_apply(e, n, expr_number_of(e, n->a),
				 n->b ? expr_number_of(e, n->b) : 0);
		return expr_number(n->type.bytes < 8
					   ? tp_narrow(num, n->type.bytes,
						       n->type.is_signed)
					   : num);
	}
}
