/* Kills the process at one of the moments at which it changes files.

   A filter of the kernel sends each such call, from whatever library, to a handler in this process. That counts it and
   makes it, or ends the process there: in the middle of what it writes, and before anything else. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* Makes a call whose address the filter knows, so that it lets it pass. */
long moments_call(long number, long a, long b, long c, long d, long e, long f);
extern char moments_called[];

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
__asm__(".text\n.hidden moments_called\nmoments_call:\n"
        "mov %rdi,%rax\nmov %rsi,%rdi\nmov %rdx,%rsi\nmov %rcx,%rdx\nmov %r8,%r10\nmov %r9,%r8\nmov 8(%rsp),%r9\n"
        "syscall\nmoments_called:\nret\n");
#define ARGUMENT(n) ((long)context->uc_mcontext.gregs[(int[]){REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9}[n]])
#define ANSWER context->uc_mcontext.gregs[REG_RAX]
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
__asm__(".text\n.hidden moments_called\nmoments_call:\n"
        "mov x8,x0\nmov x0,x1\nmov x1,x2\nmov x2,x3\nmov x3,x4\nmov x4,x5\nmov x5,x6\nsvc 0\nmoments_called:\nret\n");
#define ARGUMENT(n) ((long)context->uc_mcontext.regs[n])
#define ANSWER context->uc_mcontext.regs[0]
#endif

/* What the parent reads: how many moments there were, and the number of the last call. */
struct seen {
    long count, call;
};

static struct seen *seen;
static long last;

static int is_counted(long call, long file) {
    struct stat found;
    switch (call) {
    case SYS_write: case SYS_pwrite64: case SYS_writev: case SYS_pwritev: case SYS_ftruncate: case SYS_fallocate:
    case SYS_fchmod:
        /* Pipes between threads and what is said to people are no files of a command. */
        return file != 2 && !fstat((int)file, &found) && S_ISREG(found.st_mode);
    }
    return 1;
}

static void on_call(int signal, siginfo_t *info, void *data) {
    ucontext_t *context = data;
    int kept = errno;
    long call = info->si_syscall, made = -1;
    (void)signal;
    if (is_counted(call, ARGUMENT(0))) {
        long number = __atomic_add_fetch(&seen->count, 1, __ATOMIC_SEQ_CST);
        if (number <= last || !last) seen->call = call;
        if (number == last) {
            /* Written in half. */
            if ((call == SYS_write || call == SYS_pwrite64) && ARGUMENT(2) > 1)
                moments_call(call, ARGUMENT(0), ARGUMENT(1), ARGUMENT(2) / 2, ARGUMENT(3), 0, 0);
            kill(getpid(), SIGKILL);
        }
    }
    made = moments_call(call, ARGUMENT(0), ARGUMENT(1), ARGUMENT(2), ARGUMENT(3), ARGUMENT(4), ARGUMENT(5));
    ANSWER = made;
    errno = kept;
}

#define FIELD(name) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define HALF(name, half) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name) + 4 * (half))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define TRAP BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP)
#define CAUGHT(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), TRAP
/* Calls that open a file are caught where they may make or empty one. */
#define OPENING(call, flags)                                                                                           \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 4), HALF(args[flags], 0),                                           \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_CREAT | O_TRUNC, 0, 1), TRAP, ALLOW

/* From here on the process ends at moment *number*, or never for 0; 0 if that can be had. */
int moments_begin(long number, struct seen *shared) {
    uintptr_t passing = (uintptr_t)moments_called;
    struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    struct sock_filter filter[] = {
        FIELD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0), ALLOW,
        HALF(instruction_pointer, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)passing, 0, 3),
        HALF(instruction_pointer, 1), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(passing >> 32), 0, 1), ALLOW,
        FIELD(nr),
#ifdef SYS_open
        OPENING(SYS_open, 1), CAUGHT(SYS_creat), CAUGHT(SYS_rename), CAUGHT(SYS_link), CAUGHT(SYS_unlink),
        CAUGHT(SYS_mkdir), CAUGHT(SYS_rmdir), CAUGHT(SYS_symlink), CAUGHT(SYS_chmod),
#endif
#ifdef SYS_renameat
        CAUGHT(SYS_renameat),
#endif
        OPENING(SYS_openat, 2), CAUGHT(SYS_renameat2), CAUGHT(SYS_linkat), CAUGHT(SYS_unlinkat), CAUGHT(SYS_mkdirat),
        CAUGHT(SYS_symlinkat), CAUGHT(SYS_fchmodat), CAUGHT(SYS_fchmod), CAUGHT(SYS_write), CAUGHT(SYS_pwrite64),
        CAUGHT(SYS_writev), CAUGHT(SYS_pwritev), CAUGHT(SYS_sendfile), CAUGHT(SYS_copy_file_range),
        CAUGHT(SYS_fallocate), CAUGHT(SYS_truncate), CAUGHT(SYS_ftruncate), CAUGHT(SYS_fsync), CAUGHT(SYS_fdatasync),
        CAUGHT(SYS_sync_file_range), CAUGHT(SYS_msync),
        ALLOW,
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    seen = shared;
    last = number;
    if (sigaction(SIGSYS, &action, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}
