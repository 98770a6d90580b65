// jstat has no types. These are the functions that this package uses.
declare module 'jstat' {
  interface StudentT {
    /** The quantile of Student's t distribution. */
    inv(probability: number, degreesOfFreedom: number): number
  }
  const jStat: {
    studentt: StudentT
    binomial: { cdf(count: number, tries: number, probability: number): number }
    sum(values: readonly number[]): number
    mean(values: readonly number[]): number
    variance(values: readonly number[], sample: boolean): number
    pooledvariance(samples: readonly (readonly number[])[]): number
    median(values: readonly number[]): number
    corrcoeff(a: readonly number[], b: readonly number[]): number
  }
  export default jStat
}
