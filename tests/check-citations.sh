#!/bin/sh
# check-citations.sh - every file, function, manual page and section that a comment or a document cites is in the tree.
# usage: tests/check-citations.sh [root]; silent and 0 when all are, one line per breach otherwise.
#
# Checked are comments of C, JavaScript, CSS, SQL, shell, Python and make, all
# of the .md files and the manual, except tests/captures. A file is cited by a
# path from the root, or by its name alone. A path that begins with another
# folder (kernel/unwind/deferred.c) is a file of another project. Names with
# capitals (NAME.c) and of one letter (x.c) stand for any name, and .txt and
# .py files are checked only if the path begins with a folder of this tree.
# Functions, NAME(), are checked in C outside tests.
cd "${1:-.}" || exit 2
python3 - <<'END'
import os
import re
import subprocess
import sys

OURS = "analyze cli stitch formats symbolize schema tests man".split()
# Files of other projects that are cited by name alone, or made by a build.
FOREIGN = set("schema_sql.c schema_empty.c cli_text.c".split())
COMMENT = {
    "c": r"/\*.*?\*/", "h": r"/\*.*?\*/", "css": r"/\*.*?\*/",
    "js": r"/\*.*?\*/|(?m:^[ \t]*//[^\n]*\n)+",
    "sql": r"(?m:--[^\n]*\n\s*)+",
    "sh": r"(?m:^[ \t]*#[^\n]*\n)+",
    "py": r'(?m:^[ \t]*#[^\n]*\n)+|""".*?"""',
    "md": r".*", "man": r".*",
}
# Functions of the kernel, of perf, libraries and others that comments cite.
FUNCTIONS = set("""
    CodeKindToMarker IS_ERR_VALUE TRACE_DEFINE_ENUM __blk_mq_requeue_request __clone_internal
    __handle_irq_event_percpu __local_bh_enable_ip __mutex_lock_common __node_reclaim
    __pwq_activate_work print_handle_file __queue_work __raise_softirq_irqoff __run_hrtimer __task_state_index
    aligned_alloc archive_NAME asmcgocall attempt_merge blk_complete_request
    blk_fill_rwbs blk_insert_flush blk_log_action blk_mq_insert_requests blk_mq_start_request
    blk_rq_trace_sector blk_update_request block_wait bpf_image_ksym_add
    bpf_prog_kallsyms_candidate bt_NAME cancel_work consumer_stream_open_packet create_thread
    cs_NAME curl_NAME de_thread debug_deactivate deliver_sample_value detach_timer
    dma_fence_signal_timestamp_locked dma_fence_wait_any_timeout dma_fence_wait_timeout
    dwarf_getscopes enqueue_to_backlog evsel__reset_callgraph get_new_event_name
    get_sd_balance_interval getrusage handle_IRQ_event insert_wq_barrier jit_write_elf
    kprobe_ftrace_handler lat_print_timestamp layout_sections local_clock make_fcontext
    makecontext migrate_pages mmap_base mod_delayed_work mod_timer morestack newproc
    nohz_balancer_kick off_cpu_dump pager_cksum perf_event_exit_task perf_event_mmap_event
    perf_swevent_event posix_spawn prepare_task_switch print_graph_duration print_sample_start
    process_one_work pthread_exit pushCall pwq_activate_work rb_advance_reader
    record__synthesize ring_buffer_read_page sched_rt_runtime_exceeded sd_init sprint_symbol
    store_trace_args svm_vcpu_run syscall_exit_work syscall_trace_enter task_cpu
    tasklet_action_common tasklet_trylock tdx_vcpu_run throttle_cfs_rq throttle_cfs_rq_work
    total_mapping_size trace_graph_entry trace_graph_return trace_print_flags_seq
    trace_print_lat_fmt trace_printk trace_raw_data_print trace_remote_iter_print_event
    trace_sched_switch tracing_set_tracer unwind_deferred_request vcpu_enter_guest vmx_vcpu_run
    write_buildid write_state
""".split())
FILE = re.compile(r"(?<![\w.*{}$<>/-])([\w.-]+(?:/[\w.-]+)*"
                  r"\.(?:md|txt|sh|py|c|h))\b(?![\w(/*-]|\.\w)")
PAGE = re.compile(r"\b(backstitch(?:-[a-z]+)?)(?:\((\d)\)|[ \n](\d)\b)")
FUNCTION = re.compile(r"(?<![\w./:])([A-Za-z_]\w*)\(\)")
TITLES = re.compile(r'backstitch-formats(?:\(5\)|[ ]5\b)((?:[ ,]|\band\b|\bto\b'
                    r'|"[^"]*"|failure modes?|\d+)*)')
TITLE = r"(?m)^\.S[hs] %s$"
SX = re.compile(r"(?m)^\.Sx (.*?)(?: [.,;:])*$")


def tree():
    git = subprocess.run(["git", "ls-files"], capture_output=True, text=True)
    files = git.stdout.split("\n")[:-1]
    if not files:
        for at, dirs, names in os.walk("."):
            dirs[:] = [d for d in dirs if not d.startswith((".", "build"))]
            files += [os.path.join(at, n)[2:] for n in names]
    return [f for f in files if os.path.isfile(f)]


def kind(path):
    name = path.rsplit("/", 1)[-1]
    if re.search(r"^man/.*\.[1-9]$", path):
        return "man"
    if name == "Makefile" or path == ".ci/run" or name.endswith(".seeds"):
        return "sh"
    return name.rsplit(".", 1)[-1]


def comments(text, how):
    """Comments with their line, as one line each."""
    if how not in COMMENT:
        return
    for m in re.finditer(COMMENT[how], text, re.S):
        line = text.count("\n", 0, m.start()) + 1
        yield line, re.sub(r"\n[ \t]*(?:\*(?!/)|#+|--|//)?[ \t]*", " ",
                           m.group()) if how not in ("md", "man") \
            else re.sub(r"\s+", " ", m.group())


def wrong_file(word, paths, names):
    if word[0] in "_-" or (re.search(r"[A-Z]{2,}", word) and
                           not word.endswith(".md")):
        return False
    first, slash, _ = word.partition("/")
    if slash:
        return first in OURS and word not in paths
    if word.endswith((".txt", ".py")) or re.match(r"\w\.\w+$", word):
        return False
    return word not in names and word not in FOREIGN


def wrong_title(cited, page, modes):
    for title in re.findall(r'"([^"]*)"', cited):
        if not re.search(TITLE % re.escape(title), page):
            yield 'has no section "%s"' % title
    for n in re.findall(r"\d+", re.sub(r'"[^"]*"', "", cited)):
        if not 0 < int(n) <= modes:
            yield "has no failure mode " + n


def main():
    files = tree()
    # The build writes this header from the SQL beside it.
    paths = set(files) | {"schema/columns.h"}
    names = {f.rsplit("/", 1)[-1] for f in files}
    read = {f: open(f, encoding="utf-8", errors="replace").read()
            for f in files if not f.startswith("tests/captures/")
            and kind(f) in COMMENT}
    page = read.get("man/backstitch-formats.5", "")
    pages = "".join(read[f] for f in read if kind(f) == "man")
    part = re.search(r"(?ms)^\.Ss Failure modes$(.*?)^\.El", page)
    modes = len(re.findall(r"(?m)^\.It", part.group(1))) if part else 0
    style = set(re.findall(r"(?m)^(\d+)\. ", read.get("CONTRIBUTING.md", "")))
    words = set()
    for f, text in read.items():
        if kind(f) in ("c", "h", "js"):
            words.update(re.findall(r"\w+", re.sub(COMMENT["c"], " ", text, flags=re.S)))
    bad = set()
    for f, text in read.items():
        for line, c in comments(text, kind(f)):
            at = f if kind(f) in ("md", "man") else "%s:%d" % (f, line)
            for w in FUNCTION.findall(c) if kind(f) in ("c", "h") and not f.startswith("tests/") else []:
                if w not in words and w not in FUNCTIONS:
                    bad.add("%s: no function %s() is here; one of others is listed in FUNCTIONS" % (at, w))
            for w in FILE.findall(c):
                if wrong_file(w, paths, names):
                    bad.add("%s: %s is not in the tree" % (at, w))
            for name, a, b in PAGE.findall(c):
                p = "man/%s.%s" % (name, a or b)
                if p not in paths:
                    bad.add("%s: %s is not in the tree" % (at, p))
            for cited in TITLES.findall(c):
                for why in wrong_title(cited, page, modes):
                    bad.add("%s: backstitch-formats(5) %s" % (at, why))
            for title in SX.findall(text) if kind(f) == "man" else []:
                if not re.search(TITLE % re.escape(title), pages):
                    bad.add('%s: no page has a section "%s"' % (at, title))
            for n in re.findall(r"CONTRIBUTING\.md, style (\d+)", c):
                if n not in style:
                    bad.add("%s: CONTRIBUTING.md has no style %s" % (at, n))
    print("".join(b + "\n" for b in sorted(bad)), end="")
    return 1 if bad else 0


sys.exit(main())
END
