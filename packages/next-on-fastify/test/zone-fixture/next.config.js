export default { basePath: `/${process.env.ZONE}`, env: { ZONE: process.env.ZONE } }
