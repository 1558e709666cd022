export { type AgentOptions, createAgent } from './create-agent.ts'
