/* kernel_names.c - numbers of enums of the kernel that print formats name.
 *
 * A macro is its number in a format, but the name of an enum stays a name
 * unless the kernel says TRACE_DEFINE_ENUM() of it. Which number it has is in
 * the kernel's headers, which each row names; where a row says for one release
 * only, the order of the enum has changed between releases. */
#include "formats/tracepoint/kernel_names.h"

#include "stitch/base/mem.h"

struct kernel_name {
	const char *name;
	uint32_t value;
	uint16_t release; /* the only one; 0: all that have the name */
};

static const struct kernel_name names[] = {
	/* include/net/tcp_states.h */
	{ "TCP_ESTABLISHED", 1, 0 },
	{ "TCP_SYN_SENT", 2, 0 },
	{ "TCP_SYN_RECV", 3, 0 },
	{ "TCP_FIN_WAIT1", 4, 0 },
	{ "TCP_FIN_WAIT2", 5, 0 },
	{ "TCP_TIME_WAIT", 6, 0 },
	{ "TCP_CLOSE", 7, 0 },
	{ "TCP_CLOSE_WAIT", 8, 0 },
	{ "TCP_LAST_ACK", 9, 0 },
	{ "TCP_LISTEN", 0xa, 0 },
	{ "TCP_CLOSING", 0xb, 0 },
	{ "TCP_NEW_SYN_RECV", 0xc, 0 },
	/* include/uapi/linux/ioprio.h */
	{ "IOPRIO_CLASS_NONE", 0, 0 },
	{ "IOPRIO_CLASS_RT", 1, 0 },
	{ "IOPRIO_CLASS_BE", 2, 0 },
	{ "IOPRIO_CLASS_IDLE", 3, 0 },
	{ "IOPRIO_CLASS_INVALID", 7, 0 },
	/* include/linux/hrtimer.h, from 5.4 on with HARD */
	{ "HRTIMER_MODE_ABS", 0, 0 },
	{ "HRTIMER_MODE_REL", 1, 0 },
	{ "HRTIMER_MODE_ABS_PINNED", 2, 0 },
	{ "HRTIMER_MODE_REL_PINNED", 3, 0 },
	{ "HRTIMER_MODE_ABS_SOFT", 4, 0 },
	{ "HRTIMER_MODE_REL_SOFT", 5, 0 },
	{ "HRTIMER_MODE_ABS_PINNED_SOFT", 6, 0 },
	{ "HRTIMER_MODE_REL_PINNED_SOFT", 7, 0 },
	{ "HRTIMER_MODE_ABS_HARD", 8, 0 },
	{ "HRTIMER_MODE_REL_HARD", 9, 0 },
	{ "HRTIMER_MODE_ABS_PINNED_HARD", 0xa, 0 },
	{ "HRTIMER_MODE_REL_PINNED_HARD", 0xb, 0 },
	/* enum vm_fault_reason, include/linux/mm_types.h */
	{ "VM_FAULT_OOM", 1, 0 },
	{ "VM_FAULT_SIGBUS", 2, 0 },
	{ "VM_FAULT_MAJOR", 4, 0 },
	{ "VM_FAULT_HWPOISON", 0x10, 0 },
	{ "VM_FAULT_HWPOISON_LARGE", 0x20, 0 },
	{ "VM_FAULT_SIGSEGV", 0x40, 0 },
	{ "VM_FAULT_NOPAGE", 0x100, 0 },
	{ "VM_FAULT_LOCKED", 0x200, 0 },
	{ "VM_FAULT_RETRY", 0x400, 0 },
	{ "VM_FAULT_FALLBACK", 0x800, 0 },
	{ "VM_FAULT_DONE_COW", 0x1000, 0 },
	{ "VM_FAULT_NEEDDSYNC", 0x2000, 0 },
	{ "VM_FAULT_COMPLETED", 0x4000, 0 },
	/* enum fault_flag, include/linux/mm_types.h */
	{ "FAULT_FLAG_WRITE", 1, 0 },
	{ "FAULT_FLAG_MKWRITE", 2, 0 },
	{ "FAULT_FLAG_ALLOW_RETRY", 4, 0 },
	{ "FAULT_FLAG_RETRY_NOWAIT", 8, 0 },
	{ "FAULT_FLAG_KILLABLE", 0x10, 0 },
	{ "FAULT_FLAG_TRIED", 0x20, 0 },
	{ "FAULT_FLAG_USER", 0x40, 0 },
	{ "FAULT_FLAG_REMOTE", 0x80, 0 },
	{ "FAULT_FLAG_INSTRUCTION", 0x100, 0 },
	{ "FAULT_FLAG_INTERRUPTIBLE", 0x200, 0 },
	{ "FAULT_FLAG_VMA_LOCK", 0x1000, 0 },
	/* include/linux/mmzone.h, since 5.17 */
	{ "VMSCAN_THROTTLE_WRITEBACK", 0, 0 },
	{ "VMSCAN_THROTTLE_ISOLATED", 1, 0 },
	{ "VMSCAN_THROTTLE_NOPROGRESS", 2, 0 },
	{ "VMSCAN_THROTTLE_CONGESTED", 3, 0 },
	/* include/linux/pm_qos.h */
	{ "PM_QOS_ADD_REQ", 0, 0 },
	{ "PM_QOS_UPDATE_REQ", 1, 0 },
	{ "PM_QOS_REMOVE_REQ", 2, 0 },
	/* include/linux/pm_qos.h */
	{ "DEV_PM_QOS_RESUME_LATENCY", 1, 6018 },
	{ "DEV_PM_QOS_FLAGS", 5, 6018 },
	/* include/vdso/clocksource.h, of x86 */
	{ "VDSO_CLOCKMODE_NONE", 0, 0 },
	{ "VDSO_CLOCKMODE_TSC", 1, 0 },
	/* arch/x86/include/asm/vmx.h, by the manual of the CPU */
	{ "VMXERR_VMLAUNCH_NONCLEAR_VMCS", 4, 0 },
	{ "VMXERR_VMRESUME_NONLAUNCHED_VMCS", 5, 0 },
	{ "VMXERR_VMRESUME_AFTER_VMXOFF", 6, 0 },
	{ "VMXERR_ENTRY_INVALID_CONTROL_FIELD", 7, 0 },
	{ "VMXERR_ENTRY_INVALID_HOST_STATE_FIELD", 8, 0 },
	{ "VMXERR_ENTRY_EVENTS_BLOCKED_BY_MOV_SS", 0x1a, 0 },
	/* arch/x86/include/asm/kvm_host.h */
	{ "APICV_INHIBIT_REASON_DISABLED", 0, 6018 },
	{ "APICV_INHIBIT_REASON_HYPERV", 1, 6018 },
	{ "APICV_INHIBIT_REASON_ABSENT", 2, 6018 },
	{ "APICV_INHIBIT_REASON_BLOCKIRQ", 3, 6018 },
	{ "APICV_INHIBIT_REASON_PHYSICAL_ID_ALIASED", 4, 6018 },
	{ "APICV_INHIBIT_REASON_APIC_ID_MODIFIED", 5, 6018 },
	{ "APICV_INHIBIT_REASON_APIC_BASE_MODIFIED", 6, 6018 },
	{ "APICV_INHIBIT_REASON_NESTED", 7, 6018 },
	{ "APICV_INHIBIT_REASON_IRQWIN", 8, 6018 },
	{ "APICV_INHIBIT_REASON_PIT_REINJ", 9, 6018 },
	{ "APICV_INHIBIT_REASON_SEV", 0xa, 6018 },
	{ "APICV_INHIBIT_REASON_LOGICAL_ID_ALIASED", 0xb, 6018 },
	{ "APICV_INHIBIT_REASON_PHYSICAL_ID_TOO_BIG", 0xc, 6018 },
	/* enum inode_state_flags_enum, include/linux/fs.h */
	{ "I_NEW", 1, 6018 },
	{ "I_SYNC", 2, 6018 },
	{ "I_LRU_ISOLATING", 4, 6018 },
	{ "I_DIRTY_SYNC", 0x10, 6018 },
	{ "I_DIRTY_DATASYNC", 0x20, 6018 },
	{ "I_DIRTY_PAGES", 0x40, 6018 },
	{ "I_WILL_FREE", 0x80, 6018 },
	{ "I_FREEING", 0x100, 6018 },
	{ "I_CLEAR", 0x200, 6018 },
	{ "I_REFERENCED", 0x400, 6018 },
	{ "I_LINKABLE", 0x800, 6018 },
	{ "I_DIRTY_TIME", 0x1000, 6018 },
	{ "I_WB_SWITCH", 0x2000, 6018 },
	{ "I_OVL_INUSE", 0x4000, 6018 },
	{ "I_CREATING", 0x8000, 6018 },
	{ "I_DONTCACHE", 0x10000, 6018 },
	{ "I_SYNC_QUEUED", 0x20000, 6018 },
	{ "I_PINNING_NETFS_WB", 0x40000, 6018 },
	/* fs/btrfs/ordered-data.h */
	{ "BTRFS_ORDERED_REGULAR", 0, 6018 },
	{ "BTRFS_ORDERED_NOCOW", 1, 6018 },
	{ "BTRFS_ORDERED_PREALLOC", 2, 6018 },
	{ "BTRFS_ORDERED_COMPRESSED", 3, 6018 },
	{ "BTRFS_ORDERED_DIRECT", 4, 6018 },
	{ "BTRFS_ORDERED_IO_DONE", 5, 6018 },
	{ "BTRFS_ORDERED_COMPLETE", 6, 6018 },
	{ "BTRFS_ORDERED_IOERR", 7, 6018 },
	{ "BTRFS_ORDERED_TRUNCATED", 8, 6018 },
	/* fs/btrfs/delayed-ref.h */
	{ "BTRFS_ADD_DELAYED_REF", 1, 6018 },
	{ "BTRFS_DROP_DELAYED_REF", 2, 6018 },
	{ "BTRFS_ADD_DELAYED_EXTENT", 3, 6018 },
	{ "BTRFS_UPDATE_DELAYED_HEAD", 4, 6018 },
	/* fs/btrfs/extent_map.h */
	{ "EXTENT_FLAG_PINNED", 1, 6018 },
	{ "EXTENT_FLAG_COMPRESS_ZLIB", 2, 6018 },
	{ "EXTENT_FLAG_COMPRESS_LZO", 4, 6018 },
	{ "EXTENT_FLAG_COMPRESS_ZSTD", 8, 6018 },
	{ "EXTENT_FLAG_PREALLOC", 0x10, 6018 },
	{ "EXTENT_FLAG_LOGGING", 0x20, 6018 },
	/* fs/btrfs/extent-io-tree.h */
	{ "EXTENT_DIRTY", 1, 6018 },
	{ "EXTENT_LOCKED", 2, 6018 },
	{ "EXTENT_DIRTY_LOG1", 8, 6018 },
	{ "EXTENT_DIRTY_LOG2", 0x10, 6018 },
	{ "EXTENT_DELALLOC", 0x20, 6018 },
	{ "EXTENT_DEFRAG", 0x40, 6018 },
	{ "EXTENT_BOUNDARY", 0x80, 6018 },
	{ "EXTENT_NODATASUM", 0x100, 6018 },
	{ "EXTENT_CLEAR_META_RESV", 0x200, 6018 },
	{ "EXTENT_NEED_WAIT", 0x400, 6018 },
	{ "EXTENT_NORESERVE", 0x800, 6018 },
	{ "EXTENT_QGROUP_RESERVED", 0x1000, 6018 },
	{ "EXTENT_CLEAR_DATA_RESV", 0x2000, 6018 },
	{ "EXTENT_DELALLOC_NEW", 0x4000, 6018 },
	/* fs/btrfs/qgroup.h */
	{ "QGROUP_RESERVE", 1, 6018 },
	{ "QGROUP_RELEASE", 2, 6018 },
	{ "QGROUP_FREE", 4, 6018 },
	/* include/linux/gfp_types.h since 6.10; the bits behind these follow
	 * the configuration */
	{ "___GFP_DMA_BIT", 0, 0 },
	{ "___GFP_HIGHMEM_BIT", 1, 0 },
	{ "___GFP_DMA32_BIT", 2, 0 },
	{ "___GFP_MOVABLE_BIT", 3, 0 },
	{ "___GFP_RECLAIMABLE_BIT", 4, 0 },
	{ "___GFP_HIGH_BIT", 5, 0 },
	{ "___GFP_IO_BIT", 6, 0 },
	{ "___GFP_FS_BIT", 7, 0 },
	{ "___GFP_ZERO_BIT", 8, 0 },
	{ "___GFP_UNUSED_BIT", 9, 0 },
	{ "___GFP_DIRECT_RECLAIM_BIT", 10, 0 },
	{ "___GFP_KSWAPD_RECLAIM_BIT", 11, 0 },
	{ "___GFP_WRITE_BIT", 12, 0 },
	{ "___GFP_NOWARN_BIT", 13, 0 },
	{ "___GFP_RETRY_MAYFAIL_BIT", 14, 0 },
	{ "___GFP_NOFAIL_BIT", 15, 0 },
	{ "___GFP_NORETRY_BIT", 16, 0 },
	{ "___GFP_MEMALLOC_BIT", 17, 0 },
	{ "___GFP_COMP_BIT", 18, 0 },
	{ "___GFP_NOMEMALLOC_BIT", 19, 0 },
	{ "___GFP_HARDWALL_BIT", 20, 0 },
	{ "___GFP_THISNODE_BIT", 21, 0 },
	{ "___GFP_ACCOUNT_BIT", 22, 0 },
	{ "___GFP_ZEROTAGS_BIT", 23, 0 },
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
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct kernel_name *k = &names[i];

		if (strncmp(k->name, name, n) || k->name[n] ||
		    (k->release && k->release != release))
			continue;
		*out = k->value;
		return true;
	}
	return false;
}
