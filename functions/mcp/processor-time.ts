/** Processor time of this thread in milliseconds. Node 22 has only the time of all threads, which is more. */
export function processorTime(): number {
  const { user, system } = (process.threadCpuUsage ?? process.cpuUsage).call(process);
  return (user + system) / 1_000;
}
