/**
 * Share of the limit of foreign CPU up to which a hypervisor may have given CPU to other guests. They stop a server in the middle
 * of its work, and disturb more than programs of the same machine do. See docs/measurements.md#stolen-cpu
 */
const STOLEN_SHARE = 0.3

/** CPU that other guests may take, in cores. */
export function maxStolenCpu(maxForeignCpu: number): number {
  return STOLEN_SHARE * maxForeignCpu
}

/** Whether others took so much CPU that a round does not count. Both amounts are in cores. */
export function exceedsForeignCpu(
  { foreignCpu, stolenCpu }: { readonly foreignCpu: number; readonly stolenCpu: number },
  maxForeignCpu: number,
): boolean {
  return foreignCpu > maxForeignCpu || stolenCpu > maxStolenCpu(maxForeignCpu)
}
