import { version } from '../../version.js'

export const revalidate = 2_592_000

export default async function Page() {
  return <h1>{`version ${await version('slow', 1000)}`}</h1>
}
