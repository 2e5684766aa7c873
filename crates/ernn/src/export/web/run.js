// The module of an export, run by node: `node run.js MODULE PREFIX INPUTS OUTPUTS whole|float` reads sequences from stdin as the program
// of `driver.c` does, and writes what that writes.
'use strict';
const fs = require('fs');
const [file, prefix, inputs, outputs, kind] = process.argv.slice(2);
const [width, count] = [Number(inputs), Number(outputs)];

WebAssembly.instantiate(fs.readFileSync(file), {}).then(({ instance }) => {
  const call = name => instance.exports[prefix + '_' + name]();
  const failed = call('selftest');
  if (failed) {
    console.error('the self-test failed at sequence ' + failed);
    process.exit(1);
  }
  const bytes = new Uint8Array(fs.readFileSync(0)).buffer;
  const data = new DataView(bytes);
  const memory = instance.exports.memory.buffer;
  const input = new Float32Array(memory, call('input'), width);
  const output = new Uint8Array(memory, call('output'), 4 * count);
  const written = [];
  let at = 0;
  const whole = () => data.getUint32((at += 4) - 4, true);
  for (let left = whole(); left > 0; left--) {
    call('start');
    for (let steps = whole(); steps > 0; steps--) {
      for (let i = 0; i < width; i++) input[i] = data.getFloat32((at += 4) - 4, true);
      if (call('step')) {
        console.error('a step was refused');
        process.exit(1);
      }
      written.push(Buffer.from(output));
    }
    if (kind === 'whole') {
      const saturated = Buffer.alloc(4);
      saturated.writeUInt32LE(call('saturated') >>> 0);
      written.push(saturated);
    }
  }
  fs.writeFileSync(1, Buffer.concat(written));
});
