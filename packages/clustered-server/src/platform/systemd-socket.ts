// Socket activation by systemd: see sd_listen_fds(3).

/** First descriptor that systemd passes. */
const FIRST_FD = 3

/** Returns the descriptor of the listening socket that systemd has passed to this process. */
export function passedSocket(): number | undefined {
  const { LISTEN_PID: pid, LISTEN_FDS: count } = process.env
  if (Number(pid) !== process.pid || !(Number(count) >= 1)) return undefined
  // Workers must not take it again.
  for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES']) delete process.env[name]
  return FIRST_FD
}
