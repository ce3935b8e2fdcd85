"""The shell: the only code that awaits. It wires the pure stages of `monitor` to Kafka, files and HTTP."""
