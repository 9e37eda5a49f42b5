/* kernel_names.c - numbers of enums of the kernel that print formats name.
 *
 * A macro is its number in a format, but the name of an enum stays a name
 * unless the kernel says TRACE_DEFINE_ENUM() of it. Which number it has is in
 * the kernel's headers, which are named above its rows; where a row says for
 * one release only, the order of the enum has changed between releases. */
#include "formats/tracepoint/kernel_names.h"

#include "stitch/base/mem.h"
#include "stitch/base/words.h"

/* Names in the order of their numbers: each is one more than the one before, or
 * the next bit. */
struct kernel_names {
	const char *names;
	uint32_t first;
	bool bits;
	uint16_t release; /* the only one; 0: all that have the names */
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
	/* arch/x86/include/asm/vmx.h, by the manual of the CPU */
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
	/* include/linux/gfp_types.h since 6.10; the bits after these follow
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
